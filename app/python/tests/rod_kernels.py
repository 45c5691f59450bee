"""Kernels of a rod of points on springs: several launches on arrays that they change."""

import hindcast as hc


@hc.kernel
def pull(s: hc.Int, ends: hc.Read[hc.ivec2], rest: hc.Property[hc.real],
         stiffness: hc.Param[hc.real], x: hc.Read[hc.vec3], force: hc.Sum[hc.vec3]):
    a, b = ends[s]
    d = x[b] - x[a]
    length = hc.norm(d)
    f = d / length * (stiffness * (length - rest[s]))
    force[a] += f
    force[b] -= f


@hc.kernel
def kick(i: hc.Int, force: hc.Read[hc.vec3], h: hc.Param[hc.real], v: hc.ReadWrite[hc.vec3]):
    v[i] = v[i] * (1.0 - 0.1 * hc.dot(v[i], v[i])) + force[i] * h


@hc.kernel
def move(i: hc.Int, v: hc.Read[hc.vec3], h: hc.Param[hc.real], x: hc.ReadWrite[hc.vec3]):
    x[i] += v[i] * h
