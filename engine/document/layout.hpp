// The text that a document was read from, kept while the document is edited: comments and the way
// it is laid out stay wherever the content is what it was.
//
//     const Layout layout(read_file(file));
//     Document scene = Document::parse(layout.text());
//     scene.set("/gravity/2", -1.62);
//     layout.with(scene);        // the same text, but for that number
//
// The old tree and the new one are walked together. Members are paired by key, items of arrays by
// the pairing in order that keeps most of them; what has no partner is written in the house form,
// indented as its siblings are. A comment on the line of a value goes with the value, comments on
// the lines above it too; so what is erased takes its comments along.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "engine/document/document.hpp"

namespace hindcast::document {

class Layout {
public:
    // Throws Error as Document::parse does.
    explicit Layout(std::string text);
    ~Layout();
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;

    const std::string& text() const { return text_; }
    // A text that reads as exactly this document; text() itself where the content is the same.
    std::string with(const Document& wanted) const;

    struct Piece;

private:
    std::string text_;
    Document read_;
    std::unique_ptr<const Piece> root_;
};

// Document::save, written like the text of the file `like`, which the document was read from, or in
// the house form where that cannot be read any more.
void save_like(const Document& document, const std::filesystem::path& path,
               const std::filesystem::path& like);

}  // namespace hindcast::document
