import { Readable } from 'node:stream';

/** Fails a message stream whose final dot must not be sent. */
export class DotRefused extends Error {
  override name = 'DotRefused';
}

/** Fails a message stream when it couldn't be determined whether the final dot may be sent, so it isn't. */
export class DotUnknown extends Error {
  override name = 'DotUnknown';
}

export interface HeldMessageHooks {
  /** The server is ready for the text. */
  readonly onText: () => void;
  /** Asks whether the final dot may be sent. */
  readonly releaseDot: () => Promise<boolean>;
  /** The final dot is about to be sent, in the same turn. */
  readonly onDot: () => void;
}

/**
 * A message stream whose end, and with it the final dot, waits for permission, which is requested while the text is
 * being sent to save a round trip. Without permission the stream fails, so the connection never writes the dot.
 */
export function holdMessage(raw: Buffer, hooks: HeldMessageHooks): Readable {
  let permission: Promise<boolean> | undefined;
  return new Readable({
    highWaterMark: 1,
    read() {
      if (permission === undefined) {
        hooks.onText();
        permission = hooks.releaseDot();
        this.push(raw);
        return;
      }
      permission.then(
        (granted) => {
          if (!granted) {
            this.destroy(new DotRefused('the lease was lost'));
          } else if (!this.destroyed) {
            hooks.onDot();
            this.push(null);
          }
        },
        (cause: unknown) => this.destroy(new DotUnknown('no reply', { cause })),
      );
    },
  });
}
