import type pg from 'pg';
import { ServiceClient } from './service-client.ts';

/** Shorter values are cheaper to copy than to write separately. */
const minBytes = 64 * 1_024;
/** Of a bind message: its type. */
const typeBytes = 1;
/** Of a bind message, after its values: the format of the results. */
const tailBytes = 4;

interface BindRequest {
  readonly values?: readonly unknown[] | null;
}

/**
 * A connection that sends a large last value from where it is, while the driver copies all values into its message. The value
 * must not change until the statement has succeeded, and never again if it has failed: it may still be on its way.
 */
export class LargeValueClient extends ServiceClient {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { readonly connection: DriverConnection };
    const bind = connection.bind.bind(connection);
    connection.bind = (request) => {
      const value = request.values?.at(-1);
      if (Buffer.isBuffer(value) && value.length >= minBytes)
        bindAround(connection, bind, request, value);
      else bind(request);
    };
  }
}

interface DriverConnection {
  readonly stream: { readonly writable: boolean; write(bytes: Buffer): boolean };
  bind(request: BindRequest): void;
  _send(message: Buffer): boolean;
}

/** Lets the driver compose the message with an empty last value, and sends the value between its two parts. */
function bindAround(
  connection: DriverConnection,
  bind: DriverConnection['bind'],
  request: BindRequest,
  value: Buffer,
): void {
  let message: Buffer | undefined;
  const send = connection._send;
  connection._send = (bytes) => {
    message = bytes;
    return true;
  };
  try {
    bind({ ...request, values: [...(request.values ?? []).slice(0, -1), Buffer.alloc(0)] });
  } finally {
    connection._send = send;
  }
  if (message === undefined) throw new Error('the driver sent no bind message');
  const valueAt = message.length - tailBytes;
  message.writeInt32BE(message.readInt32BE(typeBytes) + value.length, typeBytes);
  message.writeInt32BE(value.length, valueAt - 4);
  const { stream } = connection;
  if (!stream.writable) return;
  stream.write(message.subarray(0, valueAt));
  stream.write(value);
  stream.write(message.subarray(valueAt));
}
