// One triangle over the whole picture.
#version 460

layout(location = 0) out vec2 place;  // 0 .. 1 from the top left

void main() {
    place = vec2(float((gl_VertexIndex << 1) & 2), float(gl_VertexIndex & 2));
    gl_Position = vec4(place * 2.0 - 1.0, 0.0, 1.0);
}
