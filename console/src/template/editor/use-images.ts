import { useState } from 'react';
import { useAccountId } from '../../account/use-me.ts';
import type { HostedImage } from '../../api/management.generated.ts';
import { useGet } from '../../api/use-get.ts';
import { useRefresh } from '../../api/use-refresh.ts';
import { text } from '../../texts/text.ts';
import { contentIdFor, type EditedImage } from '../edited-images.ts';
import { toBase64 } from '../template-images.ts';
import {
  altOf,
  hostImage,
  isInMarkup,
  readHostedFile,
  replaceInMarkup,
  type ShownImage,
  shownWidthOf,
} from './hosted-images.ts';
import type { EditedContent } from './use-draft.ts';

const maxImages = 20;
const maxBytes = 2 * 1_024 * 1_024;
/** The newest hosted images, among which those that the content shows are looked for. */
const hostedLimit = 500;

/** What can be done with the images of a template. */
export interface ImageActions {
  /** The hosted images that the content shows. */
  readonly shown: readonly HostedImage[];
  readonly problem: string | undefined;
  readonly busy: boolean;
  host(files: readonly File[]): void;
  attach(files: readonly File[]): void;
  insert(image: HostedImage): void;
  remove(image: EditedImage): void;
  /** @param url of its content */
  hostInstead(image: EditedImage, url: string): void;
  attachInstead(image: HostedImage): void;
}

interface ImageOptions {
  readonly content: EditedContent;
  /** Runs the update at once. */
  readonly setContent: (update: (current: EditedContent) => EditedContent) => void;
  /** Puts an image into the source. */
  readonly show: (image: ShownImage) => void;
  /** The markup was changed outside of the source editor. */
  readonly onReplaced: () => void;
}

/** Hosts, attaches and removes the images of a template. */
export function useImages({ content, setContent, show, onReplaced }: ImageOptions): ImageActions {
  const accountId = useAccountId();
  const refresh = useRefresh('images');
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const { data: hosted } = useGet('/accounts/{accountId}/images', {
    query: { limit: hostedLimit },
  });

  async function run(work: () => Promise<unknown>) {
    setProblem(undefined);
    setBusy(true);
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  async function store(file: File): Promise<HostedImage> {
    const image = await hostImage(accountId, file);
    await refresh();
    return image;
  }

  async function attachFiles(files: readonly File[]): Promise<EditedImage[]> {
    const contents = await Promise.all(files.map(toBase64));
    const added: EditedImage[] = [];
    setContent((current) => {
      let images: readonly EditedImage[] = current.images ?? [];
      for (const [index, file] of files.entries()) {
        const image = imageOf(file, contents[index] ?? '', images);
        added.push(image);
        images = withImage(images, image);
      }
      const size = images.reduce((sum, image) => sum + image.size, 0);
      if (images.length > maxImages) throw new Error(text('editor.tooManyImages'));
      if (size > maxBytes) throw new Error(text('editor.imagesTooLarge'));
      return { ...current, images: [...images] };
    });
    return added;
  }

  const replace = (from: string, to: string) => {
    setContent((current) => replaceInMarkup(current, from, to));
    onReplaced();
  };

  return {
    shown: hosted?.items.filter(({ url }) => isInMarkup(content, url)) ?? [],
    problem,
    busy,
    host: (files) =>
      void run(async () => {
        for (const file of files) {
          const { url } = await store(file);
          show({ url, alt: altOf(file.name), width: await shownWidthOf(file) });
        }
      }),
    attach: (files) =>
      void run(async () => {
        const added = await attachFiles(files);
        for (const [index, { contentId, filename }] of added.entries()) {
          const url = `cid:${contentId}`;
          const file = files[index];
          if (file === undefined || isInMarkup(content, url)) continue;
          show({ url, alt: altOf(filename), width: await shownWidthOf(file) });
        }
      }),
    insert: (image) =>
      void run(async () => {
        const width = await shownWidthOf(await readHostedFile(image));
        show({ url: image.url, alt: altOf(image.filename), width });
      }),
    remove: (image) =>
      setContent((current) => ({
        ...current,
        images: current.images?.filter((other) => other !== image),
      })),
    hostInstead: (image, url) =>
      void run(async () => {
        const stored = await store(fileOf(image, url));
        replace(`cid:${image.contentId}`, stored.url);
        setContent((current) => ({
          ...current,
          images: current.images?.filter(({ contentId }) => contentId !== image.contentId),
        }));
      }),
    attachInstead: (image) =>
      void run(async () => {
        const [added] = await attachFiles([await readHostedFile(image)]);
        if (added !== undefined) replace(image.url, `cid:${added.contentId}`);
      }),
  };
}

/** @param url a data URL, which the page's policy doesn't allow to fetch */
function fileOf({ filename, contentType }: EditedImage, url: string): File {
  const binary = atob(url.slice(url.indexOf(',') + 1));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return new File([bytes], filename, { type: contentType });
}

/** An image with the contentId of an earlier one replaces it. */
function withImage(images: readonly EditedImage[], added: EditedImage): EditedImage[] {
  const byId = new Map([...images, added].map((image) => [image.contentId, image]));
  return [...byId.values()];
}

function imageOf(file: File, content: string, images: readonly EditedImage[]): EditedImage {
  return {
    contentId: contentIdFor(file.name, images),
    filename: file.name,
    contentType: file.type,
    size: file.size,
    sha256: '',
    content,
  };
}
