/** Namespaces (SAML 2.0 Core, section 1.2; Metadata, section 1.1). */
export const names = {
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  metadata: 'urn:oasis:names:tc:SAML:2.0:metadata',
  ds: 'http://www.w3.org/2000/09/xmldsig#',
  xs: 'http://www.w3.org/2001/XMLSchema',
  xsi: 'http://www.w3.org/2001/XMLSchema-instance',
} as const;
export const c14n = 'http://www.w3.org/2001/10/xml-exc-c14n#';

const escaped: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const xmlText = (text: string): string => text.replace(/[&<>"]/g, (char) => escaped[char] ?? char);

/** ` name="value"`, or nothing. */
export const attribute = (name: string, value: string | number | null | undefined): string =>
  value === null || value === undefined ? '' : ` ${name}="${xmlText(String(value))}"`;

/** xs:dateTime in UTC. */
export const instant = (ms: number): string => new Date(ms).toISOString();
