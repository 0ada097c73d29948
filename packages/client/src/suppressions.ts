import type { SuppressedAddress, Suppression } from './api.generated.ts';
import type { CallOptions, Connection } from './connection.ts';
import { RequestError } from './errors.ts';

export type SuppressionReason = Suppression['reason'];

/** Addresses that get no email. */
export class Suppressions {
  readonly #connection: Connection;
  readonly #path: string;

  constructor(connection: Connection, account: string) {
    this.#connection = connection;
    this.#path = `/manage/v1/accounts/${account}/suppressions`;
  }

  /** All suppressed addresses, page by page. @param filter `contains`: part of the address */
  async *list(
    filter: { readonly contains?: string; readonly reason?: SuppressionReason } = {},
    options: CallOptions = {},
  ): AsyncGenerator<Suppression, void, undefined> {
    const parameters = new URLSearchParams({ ...filter, limit: '500' });
    for (;;) {
      const page = (await this.#connection.call(
        { method: 'GET', path: `${this.#path}?${parameters}` },
        options,
      )) as { readonly items: readonly Suppression[]; readonly nextCursor: string | null };
      yield* page.items;
      if (page.nextCursor === null) return;
      parameters.set('cursor', page.nextCursor);
    }
  }

  /** @returns undefined if the address isn't suppressed */
  async get(address: string, options: CallOptions = {}): Promise<SuppressedAddress | undefined> {
    try {
      return (await this.#connection.call(
        { method: 'GET', path: this.#pathOf(address) },
        options,
      )) as SuppressedAddress;
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** Suppresses an address. @param reason default: `manual` */
  async add(
    address: string,
    reason: SuppressionReason = 'manual',
    options: CallOptions = {},
  ): Promise<void> {
    await this.#connection.call(
      { method: 'PUT', path: this.#pathOf(address), body: { reason } },
      options,
    );
  }

  /** Ends a suppression. @param reason only this one; default: all */
  async remove(
    address: string,
    reason?: SuppressionReason,
    options: CallOptions = {},
  ): Promise<void> {
    const query = reason === undefined ? '' : `?reason=${reason}`;
    await this.#connection.call(
      { method: 'DELETE', path: `${this.#pathOf(address)}${query}` },
      options,
    );
  }

  #pathOf(address: string): string {
    return `${this.#path}/${encodeURIComponent(address)}`;
  }
}
