import type { Http } from '../host/http/create-http.ts';
import type { RouteLimit } from '../host/http/limits/route-limits.ts';
import { mailgun } from './mailgun/mailgun.ts';
import { postmark } from './postmark/postmark.ts';
import type { DropIn, DropInName, DropInServices } from './provider/drop-in.ts';
import { limitsOf, registerDropIn } from './provider/drop-in-routes.ts';
import { resend } from './resend/resend.ts';
import { sendgrid } from './sendgrid/sendgrid.ts';
import { ses } from './ses/ses.ts';

/** The APIs of other providers that the service speaks, each under its own prefix. */
export const dropIns: Readonly<Record<DropInName, DropIn>> = {
  resend,
  postmark,
  sendgrid,
  mailgun,
  ses,
};

/** The limits of their routes. */
export const dropInLimits: readonly RouteLimit[] = Object.values(dropIns).flatMap(limitsOf);

export function registerDropIns(http: Http, services: DropInServices): void {
  for (const dropIn of Object.values(dropIns)) registerDropIn(http, dropIn, services);
}
