import type { FastifyReply, FastifyRequest } from 'fastify';
import { batchReads } from '../../base/database/batch-reads.ts';
import { SizeLimitedCache } from '../../base/database/cache.ts';
import type { Database } from '../../base/database/open-database.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { networksOf } from '../../base/network/ip-address.ts';
import { Busy } from '../../base/values/errors.ts';
import type { Http } from '../../host/http/create-http.ts';
import type { AttachmentStore } from '../message/attachment-store.ts';
import { type HostedImageRef, hostedImageFile, parseHostedImagePath } from './hosted-image-path.ts';
import { findHostedImages } from './hosted-image-store.ts';

const mebibyte = 1_024 * 1_024;
/** Contents that are kept in memory. They never change; whether an image still exists is read for each request. */
const maxCachedBytes = 16 * mebibyte;
/** How long a reader may take. */
const maxSendMs = 60_000;
/** Removal reaches caches within this time. */
const maxAgeSeconds = 24 * 60 * 60;

export interface HostedImageDependencies {
  readonly database: Database;
  readonly attachments: Pick<AttachmentStore, 'read'>;
  /** From `memoryShare`. */
  readonly memoryShare?: number;
}

/**
 * `GET /images/{account}/{sha256}.{extension}`: an image that an account hosts for its mail, to anyone. 404 if the account has no
 * such image, whether or not there is such an account. Another account's content with the same hash doesn't count.
 */
export function registerHostedImageRoute(http: Http, dependencies: HostedImageDependencies): void {
  const images = new HostedImages(dependencies);
  http.get<{ Params: { accountId: string; file: string } }>(
    '/images/:accountId/:file',
    async (request, reply) => {
      const { accountId, file } = request.params;
      const ref = parseHostedImagePath(accountId, file);
      const found = ref && (await images.find(ref));
      if (found === undefined || hostedImageFile(ref?.sha256 ?? '', found.contentType) !== file)
        return notFound(reply);
      return images.send(request, reply, { ...found, ...(ref as HostedImageRef) });
    },
  );
}

interface FoundImage extends HostedImageRef {
  readonly contentType: string;
  readonly size: number;
}

class HostedImages {
  readonly find: (
    ref: HostedImageRef,
  ) => Promise<Omit<FoundImage, keyof HostedImageRef> | undefined>;
  readonly #attachments: HostedImageDependencies['attachments'];
  readonly #contents = new SizeLimitedCache<Buffer>(maxCachedBytes);
  readonly #reading = new Map<string, Promise<Buffer | undefined>>();
  /** Contents while they are sent. */
  readonly #memory: Limiter;
  /** Strangers choose what is read, so reading must not hold up attachments of messages, which share the connections. */
  readonly #slots = new Limiter(policies.imageReads);

  constructor({ database, attachments, memoryShare: share = 1 }: HostedImageDependencies) {
    this.#memory = new Limiter(policies.imageResponses, share);
    this.find = batchReads((refs) => findHostedImages(database.kysely, refs));
    this.#attachments = attachments;
  }

  async send(request: FastifyRequest, reply: FastifyReply, image: FoundImage) {
    const tag = `"${image.sha256}"`;
    reply
      .header('cache-control', `public, max-age=${maxAgeSeconds}`)
      .header('etag', tag)
      .header('content-security-policy', "default-src 'none'; sandbox")
      .header('cross-origin-resource-policy', 'cross-origin')
      .header('x-content-type-options', 'nosniff')
      .header('x-robots-tag', 'noindex');
    if (request.headers['if-none-match']?.includes(tag) === true) return reply.code(304).send();
    try {
      const amount = image.size;
      const { release } = await this.#memory.acquire(networksOf(request.ip), { amount });
      this.#releaseAtEnd(reply, release);
      const content = await this.#read(image);
      return content === undefined ? notFound(reply) : reply.type(image.contentType).send(content);
    } catch (error) {
      if (!(error instanceof Busy)) throw error;
      return busy(reply, error.message);
    }
  }

  /** A reader that takes too long is disconnected, so that it can't keep others from loading images. */
  #releaseAtEnd({ raw }: FastifyReply, release: () => void): void {
    if (raw.closed) {
      release();
      return;
    }
    const timer = setTimeout(() => raw.destroy(), maxSendMs);
    raw.once('close', () => {
      clearTimeout(timer);
      release();
    });
  }

  /** Requests for the same image share a read. */
  #read({ accountId, sha256 }: FoundImage): Promise<Buffer | undefined> {
    const key = `${accountId}/${sha256}`;
    const cached = this.#contents.get(key);
    if (cached !== undefined) return Promise.resolve(cached);
    const running = this.#reading.get(key);
    if (running !== undefined) return running;
    const reading = this.#slots
      .run(accountId, () => this.#attachments.read(accountId, sha256))
      .then((content) => {
        if (content !== undefined) this.#contents.set(key, content, content.length);
        return content;
      })
      .finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }
}

function notFound(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('text/plain; charset=utf-8')
    .send('Image not found\n');
}

function busy(reply: FastifyReply, reason: string): FastifyReply {
  return reply
    .code(503)
    .header('cache-control', 'no-store')
    .header('retry-after', 2)
    .type('text/plain; charset=utf-8')
    .send(`${reason}\n`);
}
