import type { ManagementConnection } from '../../../content/template-types/management-connection.ts';
import type { FolderTemplate, TemplateCode } from './template-folder.ts';

/** A template of the service: its draft, or else its published content. */
export interface ServiceTemplate {
  readonly id: string;
  /** Undefined: it has no content yet. */
  readonly code: TemplateCode | undefined;
  readonly publishedVersion: number | null;
  readonly hasDraft: boolean;
  readonly etag: string | undefined;
  readonly draftEtag: string | undefined;
}

interface TemplateAnswer {
  readonly id: string;
  readonly name: string;
  readonly whenUncertain: 'resend' | 'hold';
  readonly publishedVersion: number | null;
}

type ContentAnswer = Omit<TemplateCode, 'name' | 'whenUncertain'> & {
  readonly unusedMarkup?: unknown;
};

/** Without the markup that a draft keeps for the console's editor only. */
function usedContentOf({ content }: { readonly content: ContentAnswer }): ContentAnswer {
  const { unusedMarkup: _, ...used } = content;
  return used;
}

/** Templates of an account, read and changed through the management API. */
export class TemplateService {
  readonly #connection: ManagementConnection;

  constructor(connection: ManagementConnection) {
    this.#connection = connection;
  }

  /** Which service and account it is, for the state file. */
  get place(): string {
    return `${this.#connection.url} ${this.#connection.account}`;
  }

  async ids(): Promise<string[]> {
    const ids: string[] = [];
    for await (const item of this.#connection.list('/templates'))
      ids.push((item as TemplateAnswer).id);
    return ids.sort();
  }

  /** @returns undefined if the template doesn't exist */
  async read(id: string): Promise<ServiceTemplate | undefined> {
    const found = await this.#connection.find(pathOf(id));
    if (found === undefined) return undefined;
    const { name, whenUncertain, publishedVersion } = found.body as TemplateAnswer;
    const draft = await this.#connection.find(`${pathOf(id)}/draft`);
    const content =
      draft ??
      (publishedVersion === null
        ? undefined
        : await this.#connection.call('GET', `${pathOf(id)}/versions/${publishedVersion}`));
    return {
      id,
      code: content && {
        ...usedContentOf(content.body as { readonly content: ContentAnswer }),
        name,
        whenUncertain,
      },
      publishedVersion,
      hasDraft: draft !== undefined,
      etag: found.etag,
      draftEtag: draft?.etag,
    };
  }

  async image(id: string, sha256: string): Promise<Uint8Array> {
    return (await this.#connection.call('GET', `${pathOf(id)}/images/${sha256}`)).bytes;
  }

  /**
   * Saves a template's settings and draft if it is still as it was read.
   * @param before undefined: it is new
   * @returns the entity tag of the draft
   * @throws ManagementProblem; 412 if someone else has changed it
   */
  async save(
    { id, code, createdBy, contents }: FolderTemplate,
    before: ServiceTemplate | undefined,
  ): Promise<string | undefined> {
    const { name, whenUncertain, images, ...content } = code;
    if (before?.code?.name !== name || before.code.whenUncertain !== whenUncertain)
      await this.#connection.call('PUT', pathOf(id), {
        body: { name, whenUncertain, createdBy },
        ...(before === undefined ? { ifNoneMatch: '*' } : { ifMatch: before.etag }),
      });
    const { etag } = await this.#connection.call('PUT', `${pathOf(id)}/draft`, {
      body: {
        ...content,
        images: images?.map(({ contentId, filename, contentType, sha256 }) => ({
          contentId,
          filename,
          contentType,
          content: contents.get(sha256)?.toString('base64'),
        })),
      },
      ...(before?.hasDraft ? { ifMatch: before.draftEtag } : { ifNoneMatch: '*' }),
    });
    return etag;
  }

  /** The version that is sent now; null: none. */
  async publishedVersion(id: string): Promise<number | null> {
    const { body } = await this.#connection.call('GET', pathOf(id));
    return (body as TemplateAnswer).publishedVersion;
  }

  async discardDraft(id: string, etag: string | undefined): Promise<void> {
    await this.#connection.call('DELETE', `${pathOf(id)}/draft`, { ifMatch: etag });
  }

  /** Publishes exactly the draft with this entity tag. @returns the version and warnings */
  async publish(
    id: string,
    etag: string | undefined,
    force: boolean,
  ): Promise<{ readonly version: number; readonly notes: readonly string[] }> {
    const response = await this.#connection.call('POST', `${pathOf(id)}/publish`, {
      body: force ? { force } : {},
      ifMatch: etag,
    });
    return response.body as { version: number; notes: string[] };
  }
}

function pathOf(id: string): string {
  return `/templates/${encodeURIComponent(id)}`;
}
