import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes a manifest of the account `shop` with the template `hello`, which has the field `Name`. @returns its path */
export function writeShopManifest(folder: string): string {
  const file = join(folder, 'manifest.yaml');
  writeFileSync(
    file,
    `accounts:
  - id: shop
    name: Shop
    senders: [{ address: orders@shop.test, displayNames: [Shop], verified: true }]
    users: [{ email: owner@shop.test, name: Owner, role: owner }]
    templates:
      - { id: hello, name: Hello, createdBy: owner@shop.test, sender: orders@shop.test, subject: "Hello {{Name}}", html: "<p>Hello {{Name}}</p>" }
`,
  );
  return file;
}
