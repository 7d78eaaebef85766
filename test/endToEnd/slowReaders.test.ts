import { expect, onTestFinished, test } from 'vitest';
import { Program } from '../program.ts';

/** Frames as on a real network, and sockets that hold little of a reply. */
const NETWORK = `
  ip link set lo mtu 1500 up
  echo 4096 16384 16384 > /proc/sys/net/ipv4/tcp_rmem
  echo 4096 16384 16384 > /proc/sys/net/ipv4/tcp_wmem
  exec "$@"`;

/** Runs a program in a network namespace of its own; users other than root need a user namespace for that. */
function inNetwork(words: readonly string[]): Program {
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user'];
  const program = new Program(
    'unshare',
    [...asRoot, '--net', 'sh', '-ec', NETWORK, 'sh', ...words],
    {},
    { hasOwnGroup: true },
  );
  onTestFinished(() => program[Symbol.asyncDispose]());
  return program;
}

test.each([
  ['slowly', { isWhole: true, exit: { code: 0, signal: null }, cutOff: 0 }],
  ['no further', { isWhole: false, exit: { code: 0, signal: null }, cutOff: 1 }],
])('a reply whose client reads %s when SIGTERM comes', async (how, expected) => {
  const reader = inNetwork([process.execPath, 'test/endToEnd/slowReader.ts', how]);
  const { code } = await reader.ended;
  expect({ code, err: reader.err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(reader.out)).toEqual(expected);
});
