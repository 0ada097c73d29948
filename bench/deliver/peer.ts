/** Another way to get the letter to the sink, measured beside this service. */
export interface Peer {
  readonly name: string;
  /** Sends so many messages; resolves once all are on their way into it. */
  send(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Why a peer cannot be measured here. */
export interface MissingPeer {
  readonly name: string;
  readonly missing: string;
}
