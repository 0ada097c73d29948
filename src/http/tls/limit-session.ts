import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';

/** Max requests in progress on a connection. */
export const maxStreams = 100;

/** RFC 9113 section 6.5.3: a client that ignores the settings isn't bound by them. */
const settingsTimeoutMs = 10_000;

/**
 * Requests that a connection can begin while this process handles one batch of events. Clients that wait for responses can
 * hardly have more than `maxStreams`; those that cancel at once can (CVE-2023-44487).
 */
const maxStreamsPerTurn = 2 * maxStreams;

/** Streams that end early or with an error, whichever side caused it: max burst, and max per second. */
const maxResets = 200;
const resetsPerSecond = 20;

export interface SessionTimes {
  /** Without any traffic, the connection stops taking requests. */
  readonly idleMs: number;
  /** Without any traffic, requests in progress are abandoned. */
  readonly stalledMs: number;
}

/** Closes an HTTP/2 connection that idles, or that makes more work than its limits of concurrent requests suggest. */
export function limitSession(session: ServerHttp2Session, times: SessionTimes): void {
  const refuse = (code: number): void => {
    session.goaway(code);
    session.destroy();
  };

  const settings = setTimeout(() => refuse(constants.NGHTTP2_SETTINGS_TIMEOUT), settingsTimeoutMs);
  settings.unref();
  session.once('localSettings', () => clearTimeout(settings));
  session.once('close', () => clearTimeout(settings));

  let begun = 0;
  let resets = 0;
  let countedAt = performance.now();
  const countReset = (): void => {
    const now = performance.now();
    resets = Math.max(0, resets - ((now - countedAt) / 1_000) * resetsPerSecond) + 1;
    countedAt = now;
    if (resets > maxResets) refuse(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };
  session.on('stream', (stream: ServerHttp2Stream) => {
    begun += 1;
    if (begun === 1)
      setImmediate(() => {
        begun = 0;
      });
    if (begun > maxStreamsPerTurn) return refuse(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    // After a reset without an error, Node waits for a write that can't end anymore.
    stream.once('aborted', () => setImmediate(() => stream.destroy()));
    stream.once('close', () => {
      if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR) countReset();
    });
  });

  session.setTimeout(times.idleMs);
  session.on('timeout', () => {
    if (session.closed) return refuse(constants.NGHTTP2_NO_ERROR);
    session.close();
    if (!session.destroyed) session.setTimeout(times.stalledMs);
  });
}
