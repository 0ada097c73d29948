import type { HostileAttack } from './attack.ts';
import { attackBodies } from './attack-bodies.ts';
import { attackForgeries } from './attack-forgeries.ts';
import { attackIdle } from './attack-idle.ts';
import { attackLargeSends } from './attack-large-sends.ts';
import { attackNoops } from './attack-noops.ts';
import { attackOpens } from './attack-opens.ts';
import { attackPreviews } from './attack-previews.ts';
import { attackPublishes } from './attack-publishes.ts';
import { attackScopes } from './attack-scopes.ts';
import { attackSignIn } from './attack-sign-in.ts';
import { attackToken } from './attack-token.ts';
import { attackTrickles } from './attack-trickles.ts';

export const attacks: Readonly<Record<string, HostileAttack>> = {
  previews: attackPreviews,
  publishes: attackPublishes,
  scopes: attackScopes,
  bodies: attackBodies,
  'large-sends': attackLargeSends,
  opens: attackOpens,
  'sign-in': attackSignIn,
  token: attackToken,
  forgeries: attackForgeries,
  trickles: attackTrickles,
  idle: attackIdle,
  noops: attackNoops,
};
