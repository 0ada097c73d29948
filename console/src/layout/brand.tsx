import { brandMark } from '../../../src/host/brand/tokens.ts';

/** The mark and the name, as on every other page of the product. */
export function Brand() {
  return (
    <span className="brand">
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: a constant of the product */}
      <span className="brand-tile" dangerouslySetInnerHTML={{ __html: brandMark }} />
      <span className="brand-name">Signalpost</span>
    </span>
  );
}
