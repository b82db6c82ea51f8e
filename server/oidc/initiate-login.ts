import type { ClientId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { findClient } from './client-store.ts';

/** The name of a client app for users, and the address where it starts a sign-in itself. */
interface InitiateLogin {
  clientName: string;
  /** Undefined: it has registered no such address. */
  href?: string;
}

/** The address where a client app starts a sign-in itself, with the issuer. @param address its `initiate_login_uri` */
export function initiateLoginUrl(address: string, publicUrl: string): string {
  const url = new URL(address);
  url.searchParams.set('iss', publicUrl);
  return url.href;
}

/**
 * The specification's `logback_uri`, with the issuer (`iss`) so that the client app starts a sign-in here (OpenID
 * Connect Core 1.0, section 4). Undefined: there is no client app with that id.
 */
export async function findInitiateLogin(
  { database, publicUrl }: { database: Database; publicUrl: string },
  clientId: ClientId,
): Promise<InitiateLogin | undefined> {
  const client = await findClient(database.db, clientId);
  if (!client) return undefined;
  const { client_name: clientName, initiate_login_uri: address } = client;
  if (address === undefined) return { clientName };
  return { clientName, href: initiateLoginUrl(address, publicUrl) };
}
