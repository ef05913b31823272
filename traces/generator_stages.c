/* Iteration and stage times of eight neural networks.
 *
 * Source: the traces released with Muri (Zhao et al., "Multi-Resource Interleaving for Deep Learning Training", SIGCOMM'22), which
 * carry one profile a (network, number of GPUs) in their columns iteration_time and resource_time_0, 1, 2: loading (storage
 * and CPU together), GPU, network, in ms. The split of loading into storage and CPU is not published; half each is an
 * assumption (docs/assumptions.md), and so are the GPU memories. Stages overlap, so their sum may pass the time of an iteration.
 */
#include "traces/generator_model.h"

enum { N_SIZES = 6 };
static const uint32_t profile_gpus[N_SIZES] = {1, 2, 4, 8, 16, 32};

/* All in tenths of a ms. */
struct network_profile {
    int16_t iteration, loading, gpu, network;
};

static const struct {
    const char *name;
    int memory_gib; /* of each GPU */
    struct network_profile by_size[N_SIZES];
} networks[GENERATOR_NETWORKS] = {
    {"a2c",
     2,
     {{5170, 5140, 140, 0},
      {5250, 5040, 140, 5},
      {5330, 5020, 100, 3},
      {5550, 5020, 140, 4},
      {5670, 5140, 140, 12},
      {5850, 5070, 140, 20}}},
    {"bert",
     12,
     {{1780, 5, 1600, 0},
      {1950, 5, 1630, 180},
      {1900, 5, 1630, 180},
      {1920, 5, 1670, 590},
      {2440, 5, 1660, 860},
      {2600, 5, 1660, 1330}}},
    {"dqn",
     2,
     {{4900, 4460, 80, 0},
      {4950, 4410, 80, 6},
      {5050, 4400, 80, 4},
      {5090, 4350, 80, 5},
      {5250, 4380, 80, 12},
      {5460, 4370, 80, 16}}},
    {"gpt2",
     14,
     {{4260, 6, 4100, 0},
      {4640, 7, 4160, 400},
      {4330, 6, 4130, 200},
      {4370, 6, 4190, 490},
      {4910, 6, 4150, 1370},
      {5140, 7, 4140, 2160}}},
    {"resnet18",
     6,
     {{7790, 7110, 1100, 0},
      {8810, 6870, 1100, 950},
      {9210, 7230, 1130, 730},
      {10100, 7840, 1170, 770},
      {10550, 7360, 1080, 930},
      {10590, 7120, 1110, 930}}},
    {"shufflenet_v2_x1_0",
     4,
     {{7980, 7060, 590, 0},
      {8500, 7470, 580, 180},
      {8860, 7030, 620, 170},
      {9570, 7690, 570, 100},
      {10060, 7760, 570, 210},
      {10190, 7990, 560, 240}}},
    {"vgg16",
     11,
     {{1070, 1170, 680, 0},
      {1910, 1140, 720, 400},
      {2010, 820, 720, 670},
      {2140, 820, 750, 660},
      {3320, 830, 680, 1100},
      {3360, 870, 670, 1310}}},
    {"vgg19",
     12,
     {{1090, 1140, 800, 0},
      {2050, 1150, 830, 410},
      {2120, 840, 850, 730},
      {2260, 820, 880, 600},
      {3020, 1020, 780, 1230},
      {3560, 890, 790, 1410}}},
};

const char *generator_network_name(uint32_t network)
{
    return networks[network].name;
}

int64_t generator_network_stages(uint32_t network, uint32_t gpus, int64_t stages_ns[WORKLOAD_STAGES])
{
    enum { NS_PER_TENTH = 100000 };
    int size = N_SIZES - 1;
    while (size > 0 && profile_gpus[size] > gpus) /* the largest profiled size that is no larger */
        size--;
    const struct network_profile *p = &networks[network].by_size[size];
    stages_ns[0] = p->loading * (int64_t)NS_PER_TENTH / 2;
    stages_ns[1] = p->loading * (int64_t)NS_PER_TENTH - stages_ns[0];
    stages_ns[2] = p->gpu * (int64_t)NS_PER_TENTH;
    stages_ns[3] = p->network * (int64_t)NS_PER_TENTH;
    return p->iteration * (int64_t)NS_PER_TENTH;
}

uint64_t generator_network_memory_kib(uint32_t network)
{
    return (uint64_t)networks[network].memory_gib << 20;
}
