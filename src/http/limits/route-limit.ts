/** Who can call a route, as worded in the table in docs/reference/limits.md. */
export type Caller =
  | 'anyone'
  | 'anyone with the link'
  | 'a browser'
  | 'a signed-in person'
  | 'a registered client'
  | 'a token or API key'
  | 'an inbox reader'
  | 'a metrics reader'
  | 'the relay'
  | (string & {});

/** The limits of one route. A route without an entry can't be registered. */
export interface RouteLimit {
  /** GET includes HEAD. */
  readonly methods: readonly string[];
  /** As registered; a final `*` matches anything. */
  readonly path: string;
  readonly caller: Caller;
  /** The caller is authenticated before the body is read, so it counts against the budget of authenticated callers. */
  readonly known: boolean;
  /** Max bytes of the body; 0 if the route accepts none. */
  readonly bodyBytes: number;
  /** Max seconds that the body may take to arrive. */
  readonly bodySeconds: number;
  /** Max values in a JSON body: members and array items, nested ones included. */
  readonly bodyValues?: number;
  /** Max items of the list in the body. */
  readonly bodyItems?: number;
  /** How much more the body may have, depending on the account; for the documentation. */
  readonly extraBytes?: string;
  /** The body is streamed to disk and isn't kept in memory. */
  readonly streamed?: boolean;
}

export const kibibyte = 1024;
export const mebibyte = 1024 * kibibyte;
export const gibibyte = 1024 * mebibyte;

/** Formats a size for error messages and the table, in the largest unit that divides it evenly. */
export function formatBytes(bytes: number): string {
  if (bytes >= gibibyte && bytes % gibibyte === 0) return `${bytes / gibibyte} GiB`;
  if (bytes >= mebibyte && bytes % mebibyte === 0) return `${bytes / mebibyte} MiB`;
  if (bytes >= kibibyte && bytes % kibibyte === 0) return `${bytes / kibibyte} KiB`;
  return `${bytes} bytes`;
}
