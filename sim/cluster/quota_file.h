/* quota_file.h - how the GPUs of a virtual cluster change over time.
 *
 *     date,VC1,VC2,…             by day or moment (UTC): the column named as the virtual cluster, else one named gpus
 *     time,VC1,… | time,gpus     the same in seconds from time 0
 */
#ifndef CLUSTER_QUOTA_FILE_H
#define CLUSTER_QUOTA_FILE_H

#include "cluster/cluster.h"

/* Read vc->changes_path into vc->changes (equal neighbours merged, memory from `a`) and note whether they are dates. */
int quota_file_load(struct vc_spec *vc, struct arena *a, struct error *err);

#endif
