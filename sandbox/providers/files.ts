import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StandardKind } from '../../config/standard-providers.ts';
import { dayMs } from '../../server/shared/index.ts';
import type { Client } from './authorize.ts';
import { companyDomains, oidcPath, samlPath } from './people.ts';
import { makeSigner, type Signer } from './signer.ts';

/** The stand-ins' entries in PROVIDERS_FILE (`config/providers.ts`). */
export interface CompaniesJson extends Partial<Record<StandardKind, Record<string, unknown>>> {
  serviceProvider?: { privateKey: string; certificate: string };
  /** acme-oidc, then acme-saml. */
  providers: Record<string, unknown>[];
}

/** @param folder of the keys, as in the file */
export function companies(
  origin: string,
  client: Client,
  { folder, idpInitiated = false }: { folder: string; idpInitiated?: boolean },
): CompaniesJson {
  const saml = `${origin}${samlPath}`;
  return {
    serviceProvider: { privateKey: join(folder, 'foyer.key'), certificate: join(folder, 'foyer.crt') },
    providers: [
      {
        kind: 'oidc',
        id: 'acme-oidc',
        name: 'Acme',
        domains: [companyDomains.oidc],
        issuer: `${origin}${oidcPath}`,
        clientId: client.id,
        clientSecret: client.secret,
      },
      {
        kind: 'saml',
        id: 'acme-saml',
        name: 'Acme Corporate',
        domains: [companyDomains.saml],
        entityId: `${saml}/metadata`,
        metadataUrl: `${saml}/metadata`,
        ssoUrl: `${saml}/sso`,
        logoutUrl: `${saml}/slo`,
        certificates: [join(folder, 'acme-saml.crt')],
        nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent',
        ...(idpInitiated && { idpInitiated }),
        attributes: { email: 'mail', givenName: 'givenName', familyName: 'sn' },
      },
    ],
  };
}

export interface CompanyKeys {
  /** The SAML identity provider's and the OpenID provider's. */
  acme: Signer;
  /** Foyer's as a SAML service provider. */
  foyer: Signer;
}

const validMs = 3_650 * dayMs;

/** @param now milliseconds since the epoch */
export function makeCompanyKeys(now: number): CompanyKeys {
  const make = (name: string) => makeSigner(name, now - dayMs, now + validMs);
  return { acme: make('Acme Corporate'), foyer: make('Foyer') };
}

export function writeCompanyKeys(folder: string, { acme, foyer }: CompanyKeys): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, { privateKey, certificate }] of Object.entries({ 'acme-saml': acme, foyer })) {
    writeFileSync(join(folder, `${name}.key`), privateKey, { mode: 0o600 });
    writeFileSync(join(folder, `${name}.crt`), certificate);
  }
}

function readCompanyKeys(folder: string): CompanyKeys | undefined {
  const signer = (name: string): Signer => ({
    privateKey: readFileSync(join(folder, `${name}.key`), 'utf8'),
    certificate: readFileSync(join(folder, `${name}.crt`), 'utf8'),
  });
  try {
    return { acme: signer('acme-saml'), foyer: signer('foyer') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The sandbox's keys: created once per folder, by the process that comes first. */
export function companyKeysIn(folder: string, now: number): CompanyKeys {
  const known = readCompanyKeys(folder);
  if (known) return known;
  // Renamed into place, so that no process finds incomplete files, or a key with another's certificate.
  const draft = `${folder}.${process.pid}`;
  writeCompanyKeys(draft, makeCompanyKeys(now));
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    rmSync(draft, { recursive: true });
  }
  const keys = readCompanyKeys(folder);
  if (!keys) throw new Error(`the keys in ${folder} are not whole: delete the folder`);
  return keys;
}

/** Writes the whole file, and renames it into place. */
export function writeCompanies(file: string, json: CompaniesJson): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(json, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
