#include <cstdio>
#include <hindcast/hindcast.hpp>
using namespace hindcast;

int main() {
    Registry modules;
    register_all_modules(modules);
    Simulation cage(Scene::load("scenes/spring_cage.json"), modules, {std::make_shared<Device>()});
    const double loss = cage.run(true);  // keeps what the gradient needs
    const double slope = cage.gradient()[0];
    std::printf("%g, d/d %s = %g\n", loss, cage.parameters().names()[0].c_str(), slope);
}
