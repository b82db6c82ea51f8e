/**
 * The names of attributes in SAML that are read where the entry of a provider names none, in the order in which they are
 * tried: LDAP's names, plain and as OIDs, and those of products. `npm run docs` writes them into docs/providers.md.
 */
export interface SamlAttribute {
  name: string;
  field: 'email' | 'givenName' | 'familyName' | 'wholeName';
  /** The products that send it by their defaults or guides. */
  products: readonly string[];
}

const ldap = ['Keycloak', 'SimpleSAMLphp', 'Shibboleth'];
const oid = ['Shibboleth', 'SimpleSAMLphp'];
const microsoft = ['Entra ID', 'AD FS'];
const claims = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';

export const samlAttributes: readonly SamlAttribute[] = [
  { field: 'email', name: 'email', products: ['Okta', 'Google Workspace', 'Keycloak'] },
  { field: 'email', name: 'mail', products: ldap },
  { field: 'email', name: 'urn:oid:0.9.2342.19200300.100.1.3', products: oid },
  { field: 'email', name: 'urn:oid:1.2.840.113549.1.9.1', products: ['Keycloak'] },
  { field: 'email', name: `${claims}/emailaddress`, products: microsoft },
  { field: 'email', name: 'User.email', products: ['OneLogin'] },
  { field: 'email', name: 'urn:mace:dir:attribute-def:mail', products: ['Shibboleth'] },
  { field: 'givenName', name: 'givenName', products: ldap },
  { field: 'givenName', name: 'firstName', products: ['Okta', 'Google Workspace', 'Keycloak'] },
  { field: 'givenName', name: 'urn:oid:2.5.4.42', products: [...oid, 'Keycloak'] },
  { field: 'givenName', name: `${claims}/givenname`, products: microsoft },
  { field: 'givenName', name: 'User.FirstName', products: ['OneLogin'] },
  { field: 'givenName', name: 'urn:mace:dir:attribute-def:givenName', products: ['Shibboleth'] },
  { field: 'familyName', name: 'sn', products: oid },
  { field: 'familyName', name: 'surname', products: ['Keycloak'] },
  { field: 'familyName', name: 'lastName', products: ['Okta', 'Google Workspace', 'Keycloak'] },
  { field: 'familyName', name: 'urn:oid:2.5.4.4', products: [...oid, 'Keycloak'] },
  { field: 'familyName', name: `${claims}/surname`, products: microsoft },
  { field: 'familyName', name: 'User.LastName', products: ['OneLogin'] },
  { field: 'familyName', name: 'urn:mace:dir:attribute-def:sn', products: ['Shibboleth'] },
  { field: 'wholeName', name: 'displayName', products: ['Okta', ...oid] },
  { field: 'wholeName', name: 'name', products: [] },
  { field: 'wholeName', name: 'cn', products: oid },
  { field: 'wholeName', name: 'urn:oid:2.16.840.1.113730.3.1.241', products: oid },
  { field: 'wholeName', name: 'urn:oid:2.5.4.3', products: oid },
  { field: 'wholeName', name: 'http://schemas.microsoft.com/identity/claims/displayname', products: ['Entra ID'] },
  { field: 'wholeName', name: `${claims}/name`, products: microsoft },
  { field: 'wholeName', name: 'urn:mace:dir:attribute-def:displayName', products: ['Shibboleth'] },
];
