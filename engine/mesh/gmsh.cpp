// Gmsh's .msh, versions 2.2 and 4.1. Sections other than nodes and elements are passed over.
#include <unordered_map>
#include <utility>

#include "engine/document/text.hpp"
#include "engine/mesh/formats.hpp"

namespace hindcast::mesh {

namespace {

struct Kind {
    int number;
    const char* name;
    int points;  // 0: refused
};
constexpr Kind kinds[] = {
    {1, "line", 2},
    {2, "triangle", 3},
    {3, "quadrangle", 0},
    {4, "tetrahedron", 4},
    {5, "hexahedron", 0},
    {6, "prism", 0},
    {7, "pyramid", 0},
    {8, "second-order line", 0},
    {9, "second-order triangle", 0},
    {10, "second-order quadrangle", 0},
    {11, "second-order tetrahedron", 0},
    {12, "second-order hexahedron", 0},
    {13, "second-order prism", 0},
    {14, "second-order pyramid", 0},
    {15, "point", 1},
    {21, "third-order triangle", 0},
    {26, "third-order line", 0},
    {29, "third-order tetrahedron", 0},
};

class GmshReader {
public:
    explicit GmshReader(std::string_view content) : in_(content) {}

    MeshFile read() {
        in_.expect("$MeshFormat");
        read_format();
        bool nodes = false, elements = false;
        while (true) {
            in_.binary = false;
            const std::string_view section = in_.word();
            if (section.empty()) break;
            if (section.front() != '$')
                throw in_.error(fmt::format("a section ($Nodes, ...) is expected, found {}",
                                            document::shown(section)));
            if (section == "$Nodes" || section == "$Elements") {
                bool& done = section == "$Nodes" ? nodes : elements;
                if (std::exchange(done, true))
                    throw in_.error(fmt::format("a second section {}", section),
                                    "write one mesh into the file");
                if (section == "$Elements" && !nodes)
                    throw in_.error("$Elements stands before $Nodes", "write the file by Gmsh");
                in_.line();
                if (section == "$Nodes")
                    version_ == 2 ? nodes_2() : nodes_4();
                else
                    version_ == 2 ? elements_2() : elements_4();
                in_.binary = false;
                in_.expect(section == "$Nodes" ? "$EndNodes" : "$EndElements");
            } else {
                pass_over(std::string(section.substr(1)));
            }
        }
        if (!nodes || !elements)
            throw Error(fmt::format("the file has no section {}", nodes ? "$Elements" : "$Nodes"))
                .remedy(damaged);
        return std::move(mesh_);
    }

private:
    void read_format() {
        const std::string_view version = in_.word();
        if (version != "2.2" && version != "4.1")
            throw in_.error(
                fmt::format("version {} of the format is not read", document::shown(version)),
                "write version 4.1 or 2.2 (gmsh -format msh41)");
        version_ = version == "2.2" ? 2 : 4;
        const auto form = in_.next<int>("0 (text) or 1 (binary)");
        if (form != 0 && form != 1)
            throw in_.error(fmt::format("0 (text) or 1 (binary) is expected, found {}", form));
        const auto size = in_.next<int>("the size of numbers");
        if (size != 8)
            throw in_.error(fmt::format("numbers of {} bytes are not read", size),
                            "write numbers of 8 bytes");
        if (form == 1) {
            in_.line();
            in_.binary = true;
            const auto one = in_.next<std::int32_t>("the number 1");
            in_.swapped = one == 0x01000000;
            if (one != 1 && !in_.swapped)
                throw in_.error(fmt::format("the number 1 is expected, found {}", one));
            in_.binary = false;
        }
        is_binary_ = form == 1;
        in_.expect("$EndMeshFormat");
    }

    void pass_over(const std::string& name) {
        const std::size_t at = in_.rest().find("\n$End" + name);
        if (at == std::string_view::npos)
            throw in_.error(fmt::format("section ${} has no end", name));
        in_.move_to(in_.position() + at);
        in_.expect("$End" + name);
    }

    // The bytes that so many numbers take at least.
    std::size_t bytes(std::size_t numbers, std::size_t each) const {
        return numbers * (is_binary_ ? each : 2);
    }

    void add_node(std::int64_t tag) {
        if (!numbers_.try_emplace(tag, mesh_.point_count()).second)
            throw in_.error(fmt::format("node {} is there twice", tag),
                            "give each node a number of its own");
    }
    void add_coordinates() {
        for (int k = 0; k < 3; ++k) mesh_.points.push_back(in_.coordinate<double>("a coordinate"));
    }

    const Kind& kind_of(std::int64_t number, std::int64_t element) const {
        const std::string remedy =
            std::string(only_linear) + " (gmsh -order 1, without recombined elements)";
        for (const Kind& kind : kinds) {
            if (kind.number != number) continue;
            if (kind.points > 0) return kind;
            throw in_.error(element > 0 ? fmt::format("element {} is a {}", element, kind.name)
                                        : fmt::format("elements of kind {}", kind.name),
                            remedy);
        }
        throw in_.error(fmt::format("elements of Gmsh's type {} are not read", number), remedy);
    }

    template <class T>
    void add_element(const Kind& kind, std::int64_t element) {
        std::int64_t corners[4] = {};
        for (int k = 0; k < kind.points; ++k) {
            const auto tag = static_cast<std::int64_t>(in_.next<T>("the number of a node"));
            const auto found = numbers_.find(tag);
            if (found == numbers_.end())
                throw in_.error(
                    fmt::format("element {} names node {}, which is not there", element, tag));
            corners[k] = found->second;
        }
        if (kind.points == 4)
            mesh_.tetrahedra.push_back({corners[0], corners[1], corners[2], corners[3]});
        if (kind.points == 3) mesh_.triangles.push_back({corners[0], corners[1], corners[2]});
    }

    void nodes_2() {
        const auto count = in_.count<std::int64_t>("nodes", bytes(1, 28) * (is_binary_ ? 1 : 4));
        in_.line();
        in_.binary = is_binary_;
        mesh_.points.reserve(3 * count);
        for (std::size_t k = 0; k < count; ++k) {
            add_node(in_.next<std::int32_t>("the number of a node"));
            add_coordinates();
        }
    }

    void elements_2() {
        const auto count = in_.count<std::int64_t>("elements", is_binary_ ? 8 : 2 * 4);
        in_.line();
        in_.binary = is_binary_;
        std::size_t done = 0;
        while (done < count) {
            // In a text every element is a block of its own, with its number first.
            std::int64_t element =
                is_binary_ ? 0 : in_.next<std::int32_t>("the number of an element");
            const Kind& kind = kind_of(in_.next<std::int32_t>("the type of an element"), element);
            const std::int64_t block =
                is_binary_ ? in_.next<std::int32_t>("the number of elements in a block") : 1;
            if (block < 1 || static_cast<std::size_t>(block) > count - done)
                throw in_.error(
                    fmt::format("a block of {} elements, where {} are left", block, count - done));
            const auto tags = in_.next<std::int32_t>("the number of tags");
            if (tags < 0) throw in_.error(fmt::format("the number of tags cannot be {}", tags));
            for (std::int64_t k = 0; k < block; ++k) {
                if (is_binary_) element = in_.next<std::int32_t>("the number of an element");
                for (int t = 0; t < tags; ++t) in_.next<std::int32_t>("a tag");
                add_element<std::int32_t>(kind, element);
            }
            done += static_cast<std::size_t>(block);
        }
    }

    void nodes_4() {
        in_.binary = is_binary_;
        const auto blocks = in_.count<std::uint64_t>("blocks of nodes", bytes(4, 5));
        const auto count = in_.count<std::uint64_t>("nodes", bytes(4, 8));
        in_.next<std::uint64_t>("the lowest number of a node");
        in_.next<std::uint64_t>("the highest number of a node");
        mesh_.points.reserve(3 * count);
        for (std::size_t b = 0; b < blocks; ++b) {
            const auto dimension = in_.next<std::int32_t>("a dimension");
            in_.next<std::int32_t>("the number of an entity");
            const auto parametric = in_.next<std::int32_t>("0 or 1 (parametric)");
            if (dimension < 0 || dimension > 3 || parametric < 0 || parametric > 1)
                throw in_.error(fmt::format("a block of nodes of dimension {}, parametric {}",
                                            dimension, parametric));
            const auto nodes = in_.count<std::uint64_t>("nodes in a block", bytes(4, 8));
            for (std::size_t k = 0; k < nodes; ++k) {
                const auto tag = in_.next<std::uint64_t>("the number of a node");
                // Its place follows when all numbers of the block were read.
                if (!numbers_
                         .try_emplace(static_cast<std::int64_t>(tag),
                                      mesh_.point_count() + static_cast<std::int64_t>(k))
                         .second)
                    throw in_.error(fmt::format("node {} is there twice", tag),
                                    "give each node a number of its own");
            }
            for (std::size_t k = 0; k < nodes; ++k) {
                add_coordinates();
                for (int p = 0; p < parametric * dimension; ++p)
                    in_.next<double>("a parameter of a node");
            }
        }
        if (mesh_.point_count() != static_cast<std::int64_t>(count))
            throw in_.error(fmt::format("{} nodes are announced, and the blocks have {}", count,
                                        mesh_.point_count()));
    }

    void elements_4() {
        in_.binary = is_binary_;
        const auto blocks = in_.count<std::uint64_t>("blocks of elements", bytes(4, 5));
        const auto count = in_.count<std::uint64_t>("elements", bytes(2, 8));
        in_.next<std::uint64_t>("the lowest number of an element");
        in_.next<std::uint64_t>("the highest number of an element");
        std::size_t done = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            in_.next<std::int32_t>("a dimension");
            in_.next<std::int32_t>("the number of an entity");
            const Kind& kind = kind_of(in_.next<std::int32_t>("the type of an element"), 0);
            const auto elements = in_.count<std::uint64_t>("elements in a block", bytes(2, 8));
            for (std::size_t k = 0; k < elements; ++k) {
                const auto element = in_.next<std::uint64_t>("the number of an element");
                add_element<std::uint64_t>(kind, static_cast<std::int64_t>(element));
            }
            done += elements;
        }
        if (done != count)
            throw in_.error(
                fmt::format("{} elements are announced, and the blocks have {}", count, done));
    }

    Source in_;
    MeshFile mesh_;
    std::unordered_map<std::int64_t, std::int64_t> numbers_;  // of a node: the number of its point
    int version_ = 0;
    bool is_binary_ = false;
};

}  // namespace

MeshFile read_gmsh(std::string_view content) { return GmshReader(content).read(); }

}  // namespace hindcast::mesh
