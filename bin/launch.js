// Runs the command line with a Node that is new enough and has the service's options: the Node that npm installed beside it, the
// one that runs this file, or another one in PATH. This file itself must run on Node versions that are too old for the service.
const { spawn, spawnSync } = require('node:child_process');
const { existsSync, readFileSync, realpathSync } = require('node:fs');
const { constants } = require('node:os');
const { delimiter, join } = require('node:path');

/**
 * How the service runs, here and where a unit or an image starts Node itself. Garbage collection settings for one process per core:
 * - Young objects live for one batch: more space for them costs memory in each process without benefit.
 * - With an old-space limit below 2 GB (a process uses 50 MB), V8 collects after growth by 0.8 times the live size instead of 3 times.
 * - Pretenured objects would become garbage that only a full collection finds.
 * - Scavenging in parallel would wait for other threads on a core that is busy.
 *
 * Nothing needs `__proto__`, which lets a name that a stranger chose reach the prototype of all objects.
 */
const { oldestNode, options, smallMemory } = require('./runtime.json');

const isWindows = process.platform === 'win32';
const root = join(__dirname, '..');

function* candidates() {
  const platform = `${isWindows ? 'win' : process.platform}-${process.arch}`;
  const program = isWindows ? 'node.exe' : 'node';
  for (const name of [`node-${platform}`, `node-bin-${platform}`]) {
    try {
      yield require.resolve(`${name}/bin/${program}`);
    } catch {
      // Not for this platform, or not installed.
    }
  }
  yield process.execPath;
  for (const folder of (process.env.PATH || '').split(delimiter))
    if (folder !== '') yield join(folder, program);
}

/** The version of a Node; undefined if there is none or it doesn't run here. */
function versionOf(path) {
  if (path === realpathSync(process.execPath)) return process.versions.node;
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8', timeout: 10000 });
  const [, version] = /^v(\d+\.\d+\.\d+)/.exec(stdout || '') || [];
  return version;
}

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = oldestNode.split('.').map(Number);
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}

/** The first Node that is new enough; otherwise ends this process with a sentence about what it found. */
function findNode() {
  const found = new Map();
  for (const candidate of candidates()) {
    if (!existsSync(candidate)) continue;
    const path = realpathSync(candidate);
    if (found.has(path)) continue;
    const version = versionOf(path);
    if (version !== undefined && isNewEnough(version)) return path;
    found.set(path, version === undefined ? `${path} doesn't run` : `${path} is ${version}`);
  }
  process.stderr.write(
    `signalpost: Node ${oldestNode} or later is required, but ${[...found.values()].join(', ')}; run 'npm ci' in ${root} to install it.\n`,
  );
  return process.exit(1);
}

/** True where less than 2 GiB are allowed, as in a container: cgroups(7). */
function hasSmallMemory() {
  const files = [];
  for (const line of readText('/proc/self/cgroup').split('\n')) {
    const [, controllers, group] = /^\d+:([^:]*):(.*)$/.exec(line) || [];
    if (controllers === '')
      files.push(`/sys/fs/cgroup${group}/memory.max`, '/sys/fs/cgroup/memory.max');
    if (controllers === 'memory')
      files.push(
        `/sys/fs/cgroup/memory${group}/memory.limit_in_bytes`,
        '/sys/fs/cgroup/memory/memory.limit_in_bytes',
      );
  }
  // Without a limit, a file contains `max`.
  return files.some((file) => Number.parseInt(readText(file), 10) < 2 ** 31);
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** Runs the service as a child that ends with this process, for a Node or a system that can't replace a process by another. */
function runChild(path, args, env) {
  const stdio = ['inherit', 'inherit', 'inherit'];
  const { LISTEN_PID, LISTEN_FDS, ...others } = env;
  const isPassed = LISTEN_FDS === '1' && Number(LISTEN_PID) === process.pid;
  // A service manager passes its socket to this process: sd_listen_fds(3).
  if (isPassed) stdio.push(3);
  const child = spawn(path, args, {
    stdio: [...stdio, 'ipc'],
    env: isPassed ? { ...others, SIGNALPOST_HTTP_SOCKET: '3' } : env,
  });
  const forward = (signal) => {
    // On Windows, any signal would kill it.
    if (isWindows) child.send('stop', () => undefined);
    else child.kill(signal);
  };
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', isWindows ? 'SIGBREAK' : 'SIGQUIT'];
  for (const signal of signals) process.on(signal, forward);
  child.once('error', (error) => {
    process.stderr.write(`signalpost: ${path} can't be started: ${error.message}\n`);
    process.exit(1);
  });
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of signals) process.removeListener(name, forward);
    // The first process of a container survives its own signal.
    process.exitCode = 128 + constants.signals[signal];
    process.kill(process.pid, signal);
  });
}

const node = findNode();
// A checkout runs the TypeScript source; the published package contains JavaScript, because Node doesn't strip types in node_modules.
const source = join(root, 'src', 'main.ts');
const args = [
  ...options,
  existsSync(source) ? source : join(root, 'dist', 'main.js'),
  ...process.argv.slice(2),
];
const env = {
  // Node caches compiled code for the next start; if the folder isn't writable, Node does without.
  NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
  ...process.env,
  // Memory that is freed goes back to the system: what glibc keeps for later counts too, and can be what gets the service killed.
  ...(hasSmallMemory() ? smallMemory : {}),
};
// A replaced process keeps its id, its parent and its signals, but not a socket that a service manager has passed to it.
if (process.execve && !isWindows && env.LISTEN_FDS === undefined)
  process.execve(node, [node, ...args], env);
else runChild(node, args, env);
