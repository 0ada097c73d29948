import { SizeLimitedCache } from '../../base/database/cache.ts';
import { Limiter } from '../../base/fairness/limiter.ts';
import { policies } from '../../base/fairness/policies.ts';
import { Busy } from '../../base/values/errors.ts';
import type { AccountId } from '../../base/values/ids.ts';
import {
  type AttachmentInfo,
  encodedLength,
  withoutReplaced,
} from '../../content/message/attachment.ts';
import type { AttachmentStore } from '../../content/message/attachment-store.ts';
import {
  type EncodedAttachment,
  encodeAttachment,
} from '../../content/rendering/compose-attachments.ts';
import type { TemplateImage } from '../../content/template/template-source.ts';

/** A file of one message. */
interface SentFile extends AttachmentInfo {
  /** It is the same in every message of the template version. */
  readonly ofTemplate?: true;
}

/** The request's attachments, and those images of the template that none of them replaces. */
export function withImages(
  attachments: readonly AttachmentInfo[] | undefined,
  images: readonly TemplateImage[] | undefined,
): readonly SentFile[] | undefined {
  if (images === undefined) return attachments;
  const own = withoutReplaced(images, attachments ?? []);
  if (own.length === 0) return attachments;
  return [...(attachments ?? []), ...own.map((image) => ({ ...image, ofTemplate: true as const }))];
}

const mebibyte = 1_024 * 1_024;
/** While a message is composed and signed, its attachments are in memory about twice. */
const copies = 2;
/** Encoded images of templates that are kept in memory. */
const maxCachedImageBytes = 16 * mebibyte;

/** The database could not be read; a later attempt can succeed. */
export class AttachmentsUnreadable extends Error {
  override name = 'AttachmentsUnreadable';
}

/** Reads attachments for sending, within a fixed amount of memory however many messages are being sent. */
export class AttachmentLoader {
  readonly #store: Pick<AttachmentStore, 'read'>;
  readonly #memory: Limiter;
  readonly #images = new SizeLimitedCache<Buffer>(maxCachedImageBytes);

  /** @param share of the memory, from `memoryShare` */
  constructor(store: Pick<AttachmentStore, 'read'>, share = 1) {
    this.#store = store;
    this.#memory = new Limiter(policies.sentAttachments, share);
  }

  /**
   * Reserves memory for sending a message.
   * @param waits whether to wait without a timeout; others give their worker to another message
   * @returns a function that releases it once the message is sent; undefined if there is none now
   */
  async reserve(
    accountId: AccountId,
    attachments: readonly AttachmentInfo[],
    waits: boolean,
  ): Promise<(() => void) | undefined> {
    const bytes = attachments.reduce((sum, { size }) => sum + encodedLength(size), 0);
    try {
      const options = { amount: bytes * copies, patient: waits };
      return (await this.#memory.acquire(accountId, options)).release;
    } catch (error) {
      if (error instanceof Busy) return undefined;
      throw error;
    }
  }

  /** @throws AttachmentsUnreadable, or another error if a content was deleted */
  async load(
    accountId: AccountId,
    files: readonly SentFile[],
  ): Promise<readonly EncodedAttachment[]> {
    const encoded = new Map<string, Buffer>();
    for (const file of files)
      if (!encoded.has(file.sha256))
        encoded.set(
          file.sha256,
          file.ofTemplate === true
            ? await this.#encodeImage(accountId, file)
            : await this.#encode(accountId, file),
        );
    return files.map(({ ofTemplate: _, ...info }) => ({
      ...info,
      encoded: encoded.get(info.sha256) ?? Buffer.alloc(0),
    }));
  }

  /**
   * Reads the source of a raw message.
   * @throws as `load` does
   */
  loadSource(accountId: AccountId, source: AttachmentInfo): Promise<Buffer> {
    return this.#read(accountId, source);
  }

  /** Messages of a template have the same images, so these stay in memory. */
  async #encodeImage(accountId: AccountId, image: AttachmentInfo): Promise<Buffer> {
    const key = `${accountId}/${image.sha256}`;
    const cached = this.#images.get(key);
    if (cached !== undefined) return cached;
    const encoded = await this.#encode(accountId, image);
    this.#images.set(key, encoded, encoded.length);
    return encoded;
  }

  async #encode(
    accountId: AccountId,
    file: Pick<AttachmentInfo, 'sha256' | 'filename'>,
  ): Promise<Buffer> {
    return encodeAttachment(await this.#read(accountId, file));
  }

  async #read(
    accountId: AccountId,
    { sha256, filename }: Pick<AttachmentInfo, 'sha256' | 'filename'>,
  ): Promise<Buffer> {
    const content = await this.#store.read(accountId, sha256).catch((cause: unknown) => {
      throw new AttachmentsUnreadable('an attachment could not be read', { cause });
    });
    if (content === undefined) throw new Error(`the content of ${filename} no longer exists`);
    return content;
  }
}
