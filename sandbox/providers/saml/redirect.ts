import { createSign, createVerify } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { DOMParser } from '@xmldom/xmldom';
import { SignedXml } from 'xml-crypto';
import type { Signer } from '../signer.ts';
import { names } from './xml.ts';

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const maxBytes = 100_000;

type Message = 'SAMLRequest' | 'SAMLResponse';

/** HTTP-Redirect binding (SAML 2.0 Bindings, section 3.4). @param signer undefined: it is not signed */
export function redirectAddress(
  base: string,
  {
    message,
    xml,
    relayState,
    signer,
  }: { message: Message; xml: string; relayState?: string | undefined; signer?: Signer | undefined },
): string {
  const pairs: [string, string][] = [
    [message, deflateRawSync(xml).toString('base64')],
    ...(relayState === undefined ? [] : [['RelayState', relayState] as [string, string]]),
    ...(signer === undefined ? [] : [['SigAlg', rsaSha256] as [string, string]]),
  ];
  const octets = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  const signature =
    signer === undefined
      ? ''
      : `&Signature=${encodeURIComponent(createSign('sha256').update(octets).sign(signer.privateKey, 'base64'))}`;
  return `${base}${base.includes('?') ? '&' : '?'}${octets}${signature}`;
}

interface ReceivedMessage {
  message: Message;
  xml: string;
  relayState: string | undefined;
  signed: boolean;
  /** Tests whether the key of this certificate (PEM) has signed exactly this. */
  isSignedBy(certificate: string): boolean;
}

/** @param search as it came, with `?`: its octets are signed. @returns undefined: it is no such message */
export function readRedirect(search: string): ReceivedMessage | undefined {
  const raw = new Map(
    search
      .slice(1)
      .split('&')
      .map((pair) => [pair.split('=', 1)[0] ?? '', pair] as const),
  );
  const params = new URLSearchParams(search);
  const message = (['SAMLRequest', 'SAMLResponse'] as const).find((name) => raw.has(name));
  if (message === undefined) return undefined;
  let xml: string;
  try {
    const deflated = Buffer.from(params.get(message) ?? '', 'base64');
    xml = inflateRawSync(deflated, { maxOutputLength: maxBytes }).toString('utf8');
  } catch {
    return undefined;
  }
  const octets = [message, 'RelayState', 'SigAlg'].flatMap((name) => raw.get(name) ?? []).join('&');
  return {
    message,
    xml,
    relayState: params.get('RelayState') ?? undefined,
    signed: raw.has('Signature'),
    isSignedBy: (certificate) =>
      params.get('SigAlg') === rsaSha256 &&
      createVerify('sha256')
        .update(octets)
        .verify(certificate, params.get('Signature') ?? '', 'base64'),
  };
}

/** HTTP-POST binding (section 3.5): the signature stands in the XML. @returns undefined: it is no such message */
export function readPosted(fields: Record<string, unknown>): ReceivedMessage | undefined {
  const message = (['SAMLRequest', 'SAMLResponse'] as const).find((name) => typeof fields[name] === 'string');
  if (message === undefined) return undefined;
  const xml = Buffer.from(String(fields[message]), 'base64').toString('utf8');
  const signature = signatureIn(xml);
  return {
    message,
    xml,
    relayState: typeof fields.RelayState === 'string' ? fields.RelayState : undefined,
    signed: signature !== undefined,
    isSignedBy(publicCert) {
      if (signature === undefined) return false;
      const signed = new SignedXml({ publicCert });
      try {
        signed.loadSignature(signature);
        return signed.checkSignature(xml);
      } catch {
        return false;
      }
    },
  };
}

function signatureIn(xml: string): string | undefined {
  if (!xml.startsWith('<') || /<!DOCTYPE/i.test(xml)) return undefined;
  const root = new DOMParser({ errorHandler: {} }).parseFromString(xml, 'text/xml').documentElement;
  return root?.getElementsByTagNameNS(names.ds, 'Signature')[0]?.toString();
}
