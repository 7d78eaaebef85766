import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/temporary.ts';

/** Why tests with a slow disk are left out, where they are. */
export const NO_COMPILER =
  spawnSync('cc', ['--version']).status === 0
    ? undefined
    : 'Left out, for there is no cc; to have them: apt-get install -y gcc libc6-dev';

/** What a disk does that takes long for each write to one file, and for no other. */
const SOURCE = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
static void slow(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = 0;
  if (strstr(path, "slow-disk")) usleep(1000 * atoi(getenv("SLOW_WRITES_MS")));
}
#define SLOW(name, parameters, arguments) \
  ssize_t name parameters { \
    ssize_t (*real) parameters = dlsym(RTLD_NEXT, #name); \
    slow(fd); \
    return real arguments; \
  }
SLOW(write, (int fd, const void *text, size_t bytes), (fd, text, bytes))
SLOW(pwrite, (int fd, const void *text, size_t bytes, off_t at), (fd, text, bytes, at))
SLOW(writev, (int fd, const struct iovec *texts, int count), (fd, texts, count))
SLOW(pwritev, (int fd, const struct iovec *texts, int count, off_t at), (fd, texts, count, at))
`;

/** A file on a disk that takes so long for each write, and the command that runs a program with that disk. */
export function slowDisk(writeMs: number): { readonly file: string; readonly prefix: string[] } {
  const folder = temporaryFolder();
  const [source, library] = [join(folder, 'slow.c'), join(folder, 'slow.so')];
  writeFileSync(source, SOURCE);
  execFileSync('cc', ['-shared', '-fPIC', '-o', library, source]);
  const prefix = ['env', `LD_PRELOAD=${library}`, `SLOW_WRITES_MS=${writeMs}`];
  return { file: join(folder, 'slow-disk.jsonl'), prefix };
}
