// Surfaces by assimp, which sees the one file's content and no other file.
#include <assimp/MemoryIOWrapper.h>
#include <assimp/scene.h>

#include <algorithm>
#include <array>
#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engine/document/text.hpp"
#include "engine/mesh/formats.hpp"

namespace hindcast::mesh {

namespace {

constexpr const char* as_one_file = "write it again, as one file without references to others";

class OneFile final : public Assimp::IOSystem {
public:
    OneFile(std::string name, std::string_view content)
        : name_(std::move(name)), content_(content) {}

    bool Exists(const char* name) const override { return name == name_; }
    char getOsSeparator() const override { return '/'; }
    Assimp::IOStream* Open(const char* name, const char*) override {
        if (!Exists(name)) return nullptr;
        return new Assimp::MemoryIOStream(reinterpret_cast<const std::uint8_t*>(content_.data()),
                                          content_.size());
    }
    void Close(Assimp::IOStream* stream) override { delete stream; }

private:
    std::string name_;
    std::string_view content_;
};

using Matrix = aiMatrix4x4t<double>;

class Collector {
public:
    explicit Collector(const aiScene& scene) : scene_(scene) {}

    MeshFile collect() {
        add(*scene_.mRootNode, Matrix());
        return std::move(mesh_);
    }

private:
    void add(const aiNode& node, const Matrix& above) {
        const Matrix to_scene = above * Matrix(node.mTransformation);
        for (unsigned m = 0; m < node.mNumMeshes; ++m)
            add(*scene_.mMeshes[node.mMeshes[m]], to_scene);
        for (unsigned k = 0; k < node.mNumChildren; ++k) add(*node.mChildren[k], to_scene);
    }

    void add(const aiMesh& mesh, const Matrix& to_scene) {
        // A transformation that mirrors turns triangles inside out.
        const bool mirrors = to_scene.Determinant() < 0;
        std::vector<std::int64_t> corners;
        for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
            const aiFace& face = mesh.mFaces[f];
            if (face.mNumIndices < 3) continue;  // points and lines
            corners.clear();
            for (unsigned k = 0; k < face.mNumIndices; ++k) {
                if (face.mIndices[k] >= mesh.mNumVertices)
                    throw Error(fmt::format("face {} names vertex {}, and there are {}", faces_,
                                            face.mIndices[k], mesh.mNumVertices))
                        .remedy(damaged);
                corners.push_back(
                    number_of(to_scene * aiVector3t<double>(mesh.mVertices[face.mIndices[k]])));
            }
            if (mirrors) std::reverse(corners.begin(), corners.end());
            add_polygon(corners);
            ++faces_;
        }
    }

    // A fan of triangles around the first corner, which is right for convex polygons alone.
    void add_polygon(const std::vector<std::int64_t>& corners) {
        const auto first = mesh_.triangles.size();
        for (std::size_t k = 2; k < corners.size(); ++k)
            mesh_.triangles.push_back({corners[0], corners[k - 1], corners[k]});
        if (corners.size() == 3) return;
        // Along each triangle's normal and that of the whole: the sum of theirs.
        std::vector<aiVector3t<double>> normals;
        aiVector3t<double> sum;
        for (std::size_t k = first; k < mesh_.triangles.size(); ++k) {
            const auto& t = mesh_.triangles[k];
            normals.push_back((place_of(t[1]) - place_of(t[0])) ^
                              (place_of(t[2]) - place_of(t[0])));
            sum += normals.back();
        }
        for (const aiVector3t<double>& normal : normals)
            if (!(normal * sum > 0))
                throw Error(
                    fmt::format("face {} has {} corners and is not convex", faces_, corners.size()))
                    .remedy(
                        "cut it into triangles before the mesh is saved; faces are counted from 0");
    }

    aiVector3t<double> place_of(std::int64_t point) const {
        const double* const x = &mesh_.points[static_cast<std::size_t>(3 * point)];
        return {x[0], x[1], x[2]};
    }

    std::int64_t number_of(const aiVector3t<double>& place) {
        for (const double x : {place.x, place.y, place.z})
            if (!std::isfinite(x))
                throw Error(fmt::format("face {} has a corner that is not finite", faces_))
                    .remedy("write finite coordinates");
        // + 0.0: -0 and 0 are the same place.
        const auto [found, is_new] = numbers_.try_emplace(
            {place.x + 0.0, place.y + 0.0, place.z + 0.0}, mesh_.point_count());
        if (is_new)
            for (const double x : found->first) mesh_.points.push_back(x);
        return found->second;
    }

    const aiScene& scene_;
    MeshFile mesh_;
    std::size_t faces_ = 0;
    std::map<std::array<double, 3>, std::int64_t> numbers_;  // of the point at a place
};

// assimp makes room for what the head of a .ply announces, however short the file is.
void check_ply_counts(std::string_view content) {
    Source in(content);
    for (std::int64_t number = 1; in.left() > 0; ++number) {
        Source line(in.line(), number);
        const std::string_view first = line.word();
        if (first == "end_header") return;
        if (first != "element") continue;
        line.word();
        const auto count = line.next<std::int64_t>("a number of elements");
        if (count < 0 || count > static_cast<std::int64_t>(content.size()))
            throw in.error(fmt::format("{} elements are announced, and the file has {} bytes",
                                       count, content.size()));
    }
    throw Error("the head of the file has no end_header").remedy(damaged);
}

}  // namespace

bool is_surface(const std::string& ending) {
    return Assimp::Importer().IsExtensionSupported("." + ending);
}

MeshFile read_surface(std::string_view content, const std::string& ending) {
    if (ending == "ply") check_ply_counts(content);
    const std::string name = "mesh." + ending;
    Assimp::Importer importer;
    importer.SetIOHandler(new OneFile(name, content));  // the importer's from now on
    const aiScene* scene = importer.ReadFile(name, 0);
    if (scene == nullptr || scene->mRootNode == nullptr)
        throw Error(fmt::format("the file cannot be read: {}",
                                document::shown(importer.GetErrorString(), 200)))
            .remedy(as_one_file);
    if ((scene->mFlags & AI_SCENE_FLAGS_INCOMPLETE) != 0)
        throw Error("the file is incomplete").remedy(as_one_file);
    return Collector(*scene).collect();
}

}  // namespace hindcast::mesh
