/** Who may call a route, in the words of the table in docs/reference/limits.md. */
export type Caller =
  | 'anyone'
  | 'anyone with the link'
  | 'a browser'
  | 'a registered client'
  | 'a token or API key'
  | 'an inbox reader'
  | 'a metrics reader'
  | 'the relay'
  | (string & {});

/** What one route takes from a caller. A route without these limits can't be registered. */
export interface RouteLimit {
  /** GET includes HEAD. */
  readonly methods: readonly string[];
  /** As it is registered; `*` at the end stands for anything. */
  readonly path: string;
  readonly caller: Caller;
  /** The caller is known before the body is read: it counts against the budget of known callers, not of strangers. */
  readonly known: boolean;
  /** Max bytes of the body; 0 where the route takes none. */
  readonly bodyBytes: number;
  /** Max seconds that the body may take to arrive. */
  readonly bodySeconds: number;
  /** Max values in a JSON body: members and array items, nested ones included. */
  readonly bodyValues?: number;
  /** The body goes to disk as it arrives and isn't kept in memory. */
  readonly streamed?: boolean;
}

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const gibibyte = 1024 * mebibyte;

/** How a refusal and the table name a size: in the largest unit that it is a whole number of. */
export function formatBytes(bytes: number): string {
  if (bytes >= gibibyte && bytes % gibibyte === 0) return `${bytes / gibibyte} GiB`;
  if (bytes >= mebibyte && bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  if (bytes >= kibibyte && bytes % kibibyte === 0) return `${bytes / kibibyte} KiB`;
  return `${bytes} bytes`;
}
