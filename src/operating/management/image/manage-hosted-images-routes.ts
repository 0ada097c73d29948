import { type Static, Type } from 'typebox';
import { accountLimits } from '../../../accounts/account/account-limits.ts';
import type { DatabaseTransaction } from '../../../base/database/open-database.ts';
import {
  NamedObject,
  StrictObject,
  Text,
  Time,
  Whole,
} from '../../../base/values/common-schemas.ts';
import {
  type HostedImageRef,
  hostedImagePath,
} from '../../../content/hosted-image/hosted-image-path.ts';
import {
  type HostedImage,
  readHostedImage,
  readHostedImages,
  readHostedImageUsage,
  removeHostedImage,
  saveHostedImage,
} from '../../../content/hosted-image/hosted-image-store.ts';
import { MAX_IMAGE_BYTES } from '../../../content/template/template-limits.ts';
import { checkImage, imageTypes } from '../../../sending/submission/check-image.ts';
import { decodeBase64 } from '../../../sending/submission/decode-base64.ts';
import { imageContent } from '../../manifest/manifest-schema.ts';
import { definePages } from '../answer/list-operations.ts';
import { conflict, invalidField } from '../answer/problem.ts';
import { viewOf } from '../answer/view-of.ts';
import { defineOperation, type OperationCall } from '../operation.ts';
import { resourceRoutes } from '../resource-routes.ts';
import { saveResource } from '../save-resource.ts';

/** Limits of one account, so that none can fill the disk. */
const maxImages = accountLimits.images.max;
const maxTotalMebibytes = 256;
const maxTotalBytes = maxTotalMebibytes * 1_024 * 1_024;

const HostedImageView = NamedObject('HostedImage', {
  sha256: Text('SHA-256 of the content, in hex.'),
  filename: Type.String(),
  contentType: Text(`${imageTypes.join(', ')}.`),
  size: Whole('Bytes of the content.'),
  url: Text('Its public address, for the `src` of an image.'),
  createdAt: Time('When it was uploaded.'),
});

function viewImage(image: HostedImage, { params, dependencies }: OperationCall) {
  const ref = { accountId: params.accountId, sha256: image.sha256 };
  const url = `${dependencies.publicUrl()}${hostedImagePath(ref, image.contentType)}`;
  return viewOf(HostedImageView)({ ...image, url });
}

function imageOf(call: OperationCall, sha256: string) {
  const ref = { accountId: call.params.accountId, sha256 };
  return {
    kind: 'hosted_image',
    id: sha256,
    async read(transaction: DatabaseTransaction) {
      const image = await readHostedImage(transaction, ref);
      return image && viewImage(image, call);
    },
  };
}

export const hostedImageRoutes = resourceRoutes({
  path: '/accounts/:accountId/images/:sha256',
  access: { read: 'templates:read', write: 'templates:write', remove: 'templates:publish' },
  view: HostedImageView,
  resource: (call) => imageOf(call, call.params.sha256),
  get: { id: 'getHostedImage', summary: 'Get a hosted image' },
  remove: {
    id: 'deleteHostedImage',
    summary: 'Remove a hosted image',
    description:
      'Its URL returns 404 from now on, even in delivered mail; caches can keep it for a day.',
    write: (call) => (transaction) => removeHostedImage(transaction, call.params),
  },
});

export const listHostedImages = definePages({
  id: 'listHostedImages',
  summary: 'List hosted images, newest first',
  item: HostedImageView,
  cursor: ['time', 'text'],
  read({ kysely, params }, { after, limit }) {
    const before = after && { at: after[0], sha256: after[1] };
    if (before !== undefined && !/^[0-9a-f]{64}$/.test(before.sha256))
      throw invalidField('cursor', 'isn’t a cursor of this endpoint');
    return readHostedImages(kysely, params.accountId, { before, limit });
  },
  view: (image, call) => viewImage(image, call),
  place: ({ at, sha256 }) => [at, sha256],
});

const Upload = StrictObject({
  filename: Text('A file name to find it by.', {
    examples: ['dot.gif'],
    minLength: 1,
    maxLength: 255,
  }),
  content: imageContent,
});

export const uploadHostedImage = defineOperation({
  id: 'uploadHostedImage',
  summary: 'Host an image',
  description: `Anyone can load it from its URL, which depends only on its content. Max 2 MiB, and ${maxImages} images with ${maxTotalMebibytes} MiB together per account. Uploading it again changes only its name.`,
  body: Upload,
  answer: HostedImageView,
  status: 201,
  async handle(call) {
    const { image, content } = await readUpload(call.body);
    const ref = { accountId: call.params.accountId, sha256: image.sha256 };
    const requireSpace = (transaction: DatabaseTransaction) =>
      requireRoomFor(transaction, ref, image.size);
    await requireSpace(call.kysely);
    await call.dependencies.attachments.save(ref.accountId, [content]);
    return saveResource(call, {
      ...imageOf(call, image.sha256),
      async write(transaction) {
        await requireSpace(transaction);
        await saveHostedImage(transaction, ref, image);
      },
    });
  },
});

/** @throws Problem if it isn't an image that can be hosted */
async function readUpload({ filename, content: base64 }: Static<typeof Upload>) {
  const content = await decodeBase64(base64);
  if (content === undefined)
    throw invalidField('content', 'is not base64 (RFC 4648, with padding and without line breaks)');
  const size = content.content.length;
  if (size > MAX_IMAGE_BYTES)
    throw invalidField('content', `must not be larger than ${MAX_IMAGE_BYTES} bytes`);
  const given = { contentId: 'image', filename, size, sha256: content.sha256 };
  const image = checkImage({ ...given, start: content.content }, (member, reason) => {
    throw invalidField(member, reason);
  });
  return { image, content };
}

/** @throws Problem if the account has no room for the image */
async function requireRoomFor(
  transaction: DatabaseTransaction,
  ref: HostedImageRef,
  size: number,
): Promise<void> {
  const { images, bytes } = await readHostedImageUsage(transaction, ref);
  const advice = 'Remove some; they count for an hour after that';
  if (images >= maxImages)
    throw conflict(`The account has ${images} hosted images, the max. ${advice}`);
  if (bytes + size > maxTotalBytes)
    throw conflict(
      `The hosted images of the account would be larger than ${maxTotalMebibytes} MiB together. ${advice}`,
    );
}
