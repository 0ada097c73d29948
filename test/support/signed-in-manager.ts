import { ManagementClient } from './management-client.ts';
import { signIn } from './sign-in.ts';

/** Calls the management API like the console, as a person who signs in with the test password. */
export async function signedInManager(
  service: { readonly url: string },
  email: string,
): Promise<ManagementClient> {
  const cookie = await signIn(service, email);
  const headers = { cookie, origin: service.url, 'x-signalpost-request': '1' };
  return new ManagementClient(service, undefined, headers);
}
