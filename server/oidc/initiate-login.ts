import type { Database } from '../store/index.ts';
import { findClient } from './client-store.ts';

/** A client app as somebody is told of it, and where it begins a sign-in by itself. */
export interface InitiateLogin {
  clientName: string;
  /** Undefined: it has registered no such address. */
  href?: string;
}

/** Where a client app begins a sign-in by itself, told who asks. @param address its `initiate_login_uri` */
export function initiateLoginUrl(address: string, publicUrl: string): string {
  const url = new URL(address);
  url.searchParams.set('iss', publicUrl);
  return url.href;
}

/**
 * The specification's `logback_uri`, with who asks (`iss`) so that the client app begins a sign-in here (OpenID Connect
 * Core 1.0, section 4). Undefined: nobody is registered by that id.
 */
export async function findInitiateLogin(
  { database, publicUrl }: { database: Database; publicUrl: string },
  clientId: string,
): Promise<InitiateLogin | undefined> {
  const client = await findClient(database.db, clientId);
  if (!client) return undefined;
  const { client_name: clientName, initiate_login_uri: address } = client;
  if (address === undefined) return { clientName };
  return { clientName, href: initiateLoginUrl(address, publicUrl) };
}
