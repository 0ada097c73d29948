import { createHash } from 'node:crypto';
import type { Quota } from '../../src/accounts/account/account.ts';
import { saveAccount } from '../../src/accounts/account/account-store.ts';
import type { Integration } from '../../src/accounts/oauth/integration-store.ts';
import { type Sender, saveSender } from '../../src/accounts/sender/sender-store.ts';
import type { Database } from '../../src/base/database/open-database.ts';
import type { EmailAddress } from '../../src/base/values/email-address.ts';
import type { AccountId, PersonId, TemplateId } from '../../src/base/values/ids.ts';
import type { CompileResult } from '../../src/content/template/compile-source.ts';
import { compileVersion } from '../../src/content/template/compile-version.ts';
import type { TemplateSource } from '../../src/content/template/template-source.ts';
import { publishVersion, saveTemplate } from '../../src/content/template/template-store.ts';
import { passwordFields, postToken, SessionWorld } from './session-world.ts';

export interface ShopOptions {
  readonly id?: string;
  readonly addOns?: readonly string[];
  readonly suspended?: boolean;
  readonly quota?: Quota;
  readonly attachmentLimit?: number;
  readonly archiveAddress?: EmailAddress;
}

/** An account with everything that sending needs. */
export interface Shop {
  readonly id: AccountId;
  readonly owner: { readonly id: PersonId; readonly email: string };
  readonly integration: Integration;
}

/** A template for a test; omitted parts default to a plain letter. */
export interface ShopTemplate {
  readonly id: string;
  readonly sender?: string;
  readonly freshnessSeconds?: number;
  readonly source?: Partial<TemplateSource>;
}

/** Creates or updates the account itself. */
export async function saveShop(database: Database, options: ShopOptions = {}): Promise<AccountId> {
  const id = (options.id ?? '46100') as AccountId;
  await saveAccount(database.kysely, {
    id,
    name: `Shop ${id}`,
    addOns: new Set(options.addOns ?? ['transactional']),
    suspended: options.suspended ?? false,
    retentionDays: 90,
    quota: options.quota,
    attachmentLimit: options.attachmentLimit,
    archiveAddress: options.archiveAddress,
  });
  return id;
}

/**
 * An account with an owner, an integration, the verified sender `orders@shop.test` (named `Demo Shop` or `Orders`), the
 * unverified `new@shop.test`, and the published template `t-0001` that requires `Order Number`.
 */
export async function openShop(database: Database, options: ShopOptions = {}): Promise<Shop> {
  const id = await saveShop(database, options);
  const world = new SessionWorld(database, id);
  const owner = await world.addPerson();
  const integration = await world.addIntegration();
  await addSender(database, id, 'orders@shop.test', { displayNames: ['Demo Shop', 'Orders'] });
  await addSender(database, id, 'new@shop.test', { verified: false });
  const shop = { id, owner, integration };
  await publishShopTemplate(database, shop, { id: 't-0001', sender: 'orders@shop.test' });
  return shop;
}

/** Adds a sender, verified by default. */
export async function addSender(
  database: Database,
  accountId: AccountId,
  address: string,
  options: Partial<Omit<Sender, 'address'>> = {},
): Promise<void> {
  await saveSender(database.kysely, accountId, {
    address,
    displayNames: [],
    verified: true,
    ...options,
  });
}

/**
 * Compiled once in a process: most tests publish the same template. The threads of the service have the lowest priority, which on
 * a busy machine can be too little for their time limit.
 */
const compiledSources = new Map<string, Promise<CompileResult>>();

function compileOnce(source: TemplateSource): Promise<CompileResult> {
  const key = JSON.stringify(source);
  // Large ones are made to be compiled, and kept by nobody.
  if (key.length > 4_096) return compileVersion({ source });
  const result = compiledSources.get(key) ?? compileVersion({ source });
  compiledSources.set(key, result);
  return result;
}

/** Publishes a template version; resolves with its number. */
export async function publishShopTemplate(
  database: Database,
  shop: Pick<Shop, 'id' | 'owner'>,
  template: ShopTemplate,
): Promise<number> {
  const source: TemplateSource = {
    subject: 'Your order {{Order Number}}',
    previewText: 'Thank you, {{First Name}}',
    html: '<p>Hello {{First Name}}, your order is {{Order Number}}.</p>',
    fields: { 'First Name': { default: 'there' } },
    ...template.source,
  };
  const { compiled, problems } = await compileOnce(source);
  if (compiled === null) throw new Error(JSON.stringify(problems));
  const templateId = template.id as TemplateId;
  const hash = createHash('sha256').update(JSON.stringify(source)).digest();
  return database.kysely.transaction().execute(async (transaction) => {
    await saveTemplate(transaction, {
      accountId: shop.id,
      id: templateId,
      name: template.id,
      createdBy: shop.owner.id,
    });
    return publishVersion(transaction, {
      accountId: shop.id,
      templateId,
      contentHash: hash,
      senderAddress: template.sender,
      freshnessSeconds: template.freshnessSeconds ?? 900,
      source,
      compiled,
    });
  });
}

/** An access token of the shop's owner, from the password grant. */
export async function getToken(
  service: { readonly url: string },
  shop: Pick<Shop, 'owner' | 'integration'>,
): Promise<string> {
  const response = await postToken(service, passwordFields(shop.owner, shop.integration));
  if (response.status !== 200) throw new Error(`no token: ${response.text}`);
  return String(response.body.access_token);
}
