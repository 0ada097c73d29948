import { Readable } from 'node:stream';

/** Ends a message stream whose final dot must not leave. */
export class DotRefused extends Error {
  override name = 'DotRefused';
}

/** Ends a message stream where nobody could say whether the final dot may leave; it does not, then. */
export class DotUnknown extends Error {
  override name = 'DotUnknown';
}

export interface HeldMessageHooks {
  /** The server wants the text now. */
  readonly onText: () => void;
  /** Asks whether the final dot may leave. */
  readonly releaseDot: () => Promise<boolean>;
  /** The final dot leaves now: called in the same turn. */
  readonly onDot: () => void;
}

/**
 * A message as a stream whose end, and with it the final dot, waits for permission. The permission is asked for while
 * the text is on its way, so that the two do not add up. Without it the stream fails instead of ending, and the
 * connection that reads it never writes the dot.
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
        (cause: unknown) => this.destroy(new DotUnknown('no answer', { cause })),
      );
    },
  });
}
