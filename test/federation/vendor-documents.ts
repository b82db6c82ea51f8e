import { discoveryJson, emailFormat, metadataXml, persistentFormat } from '../support/provider-documents.ts';

/** A document in the shape that a vendor publishes, for the entry of its recipe. */
export interface VendorDocument {
  /** The id of the entry in the recipe. */
  id: string;
  text: (certificate: string) => string;
  /** Options of `foyer provider import` besides the id. */
  options?: readonly string[];
}

const formats = (...names: string[]) => names.map((name) => `urn:oasis:names:tc:SAML:2.0:nameid-format:${name}`);
const unspecifiedFormat = 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified';
const openId = ['--client-id', 'foyer', '--client-secret-variable', 'VENDOR_SECRET'];

/** The WS-Federation roles of Microsoft's products, which are no SAML 2.0. */
const webServiceRoles = (certificate: string) =>
  ['SecurityTokenServiceType', 'ApplicationServiceType']
    .map(
      (type) =>
        `<RoleDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ` +
        `xmlns:fed="http://docs.oasis-open.org/wsfed/federation/200706" xsi:type="fed:${type}" ` +
        'protocolSupportEnumeration="http://docs.oasis-open.org/wsfed/federation/200706"><KeyDescriptor use="signing">' +
        '<KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>' +
        `${certificate.replace(/-----[^-]+-----|\s/g, '')}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>` +
        '<fed:ClaimTypesOffered><auth:ClaimType xmlns:auth="http://docs.oasis-open.org/wsfed/authorization/200706" ' +
        'Uri="http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"><auth:DisplayName>Name</auth:DisplayName>' +
        '<auth:Description>The name of the user.</auth:Description></auth:ClaimType></fed:ClaimTypesOffered></RoleDescriptor>',
    )
    .join('');

const entraTenant = '8a1e0f5c-2f0b-4c5e-9d0a-3b1f6f7c9e21';
const entra = `https://login.microsoftonline.com/${entraTenant}`;
const keycloak = 'https://sso.acme.example/realms/acme';

/** By the name of the recipe. */
export const vendorDocuments: Record<string, readonly VendorDocument[]> = {
  'entra-id': [
    {
      id: 'acme-entra',
      options: openId,
      text: () =>
        discoveryJson(`${entra}/v2.0`, {
          authorization_endpoint: `${entra}/oauth2/v2.0/authorize`,
          token_endpoint: `${entra}/oauth2/v2.0/token`,
          jwks_uri: `${entra}/discovery/v2.0/keys`,
          userinfo_endpoint: 'https://graph.microsoft.com/oidc/userinfo',
          scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
          subject_types_supported: ['pairwise'],
          token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
          http_logout_supported: true,
        }),
    },
    {
      id: 'acme-entra-saml',
      text: (certificate) =>
        metadataXml({
          entityId: `https://sts.windows.net/${entraTenant}/`,
          id: '_2f0b4c5e',
          before: webServiceRoles(certificate),
          signing: [certificate],
          logout: `${entra}/saml2`,
          signOn: `${entra}/saml2`,
          signOnByPost: `${entra}/saml2`,
        }),
    },
  ],
  auth0: [
    {
      id: 'acme-auth0',
      options: openId,
      text: () =>
        discoveryJson('https://acme.eu.auth0.com/', {
          authorization_endpoint: 'https://acme.eu.auth0.com/authorize',
          token_endpoint: 'https://acme.eu.auth0.com/oauth/token',
          jwks_uri: 'https://acme.eu.auth0.com/.well-known/jwks.json',
          userinfo_endpoint: 'https://acme.eu.auth0.com/userinfo',
          id_token_signing_alg_values_supported: ['HS256', 'RS256', 'PS256'],
          code_challenge_methods_supported: ['S256', 'plain'],
        }),
    },
  ],
  cognito: [
    {
      id: 'acme-pool',
      options: openId,
      text: () => {
        const domain = 'https://acme.auth.eu-central-1.amazoncognito.com';
        const issuer = 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_AbCdEf123';
        return discoveryJson(issuer, {
          authorization_endpoint: `${domain}/oauth2/authorize`,
          token_endpoint: `${domain}/oauth2/token`,
          jwks_uri: `${issuer}/.well-known/jwks.json`,
          userinfo_endpoint: `${domain}/oauth2/userInfo`,
          scopes_supported: ['openid', 'email', 'phone', 'profile'],
          response_types_supported: ['code', 'token'],
        });
      },
    },
  ],
  dex: [
    {
      id: 'acme-dex',
      options: openId,
      text: () =>
        discoveryJson('https://dex.acme.example', {
          authorization_endpoint: 'https://dex.acme.example/auth',
          scopes_supported: ['openid', 'email', 'groups', 'profile', 'offline_access'],
          code_challenge_methods_supported: ['S256', 'plain'],
        }),
    },
  ],
  keycloak: [
    {
      id: 'acme-kc',
      options: openId,
      text: () =>
        discoveryJson(keycloak, {
          authorization_endpoint: `${keycloak}/protocol/openid-connect/auth`,
          token_endpoint: `${keycloak}/protocol/openid-connect/token`,
          jwks_uri: `${keycloak}/protocol/openid-connect/certs`,
          userinfo_endpoint: `${keycloak}/protocol/openid-connect/userinfo`,
          scopes_supported: [
            'openid',
            'acr',
            'address',
            'basic',
            'email',
            'offline_access',
            'phone',
            'profile',
            'roles',
          ],
          id_token_signing_alg_values_supported: [
            'PS384',
            'RS384',
            'EdDSA',
            'ES384',
            'HS256',
            'RS256',
            'ES256',
            'PS256',
          ],
          require_pushed_authorization_requests: false,
        }),
    },
    {
      id: 'acme-kc-saml',
      text: (certificate) =>
        metadataXml({
          entityId: keycloak,
          signing: [certificate],
          wantsSignedRequests: true,
          logout: `${keycloak}/protocol/saml`,
          signOn: `${keycloak}/protocol/saml`,
          signOnByPost: `${keycloak}/protocol/saml`,
          formats: [...formats('persistent', 'transient'), unspecifiedFormat, emailFormat],
        }),
    },
  ],
  'google-workspace': [
    {
      id: 'acme-google',
      text: (certificate) =>
        metadataXml({
          entityId: 'https://accounts.google.com/o/saml2?idpid=C01abc234',
          signing: [certificate],
          wantsSignedRequests: false,
          validUntil: new Date(Date.now() + 1_800 * 86_400_000).toISOString(),
          formats: [emailFormat],
          signOn: 'https://accounts.google.com/o/saml2/idp?idpid=C01abc234',
          signOnByPost: 'https://accounts.google.com/o/saml2/idp?idpid=C01abc234',
        }),
    },
  ],
  okta: [
    {
      id: 'acme-okta-oidc',
      options: openId,
      text: () =>
        discoveryJson('https://acme.okta.com', {
          authorization_endpoint: 'https://acme.okta.com/oauth2/v1/authorize',
          token_endpoint: 'https://acme.okta.com/oauth2/v1/token',
          jwks_uri: 'https://acme.okta.com/oauth2/v1/keys',
          userinfo_endpoint: 'https://acme.okta.com/oauth2/v1/userinfo',
          scopes_supported: ['openid', 'email', 'profile', 'address', 'phone', 'offline_access', 'groups'],
          code_challenge_methods_supported: ['S256'],
        }),
    },
    {
      id: 'acme-okta',
      text: (certificate) =>
        metadataXml({
          entityId: 'http://www.okta.com/exk1fxpszb7zrNTLz2p8',
          signing: [certificate],
          wantsSignedRequests: false,
          formats: [unspecifiedFormat, emailFormat],
          signOn: 'https://acme.okta.com/app/acme_foyer_1/exk1fxpszb7zrNTLz2p8/sso/saml',
          signOnByPost: 'https://acme.okta.com/app/acme_foyer_1/exk1fxpszb7zrNTLz2p8/sso/saml',
        }),
    },
  ],
  'ad-fs': [
    {
      id: 'acme-adfs',
      text: (certificate) =>
        metadataXml({
          entityId: 'http://adfs.acme.example/adfs/services/trust',
          id: '_adfs',
          before: webServiceRoles(certificate),
          signing: [certificate],
          encryption: certificate,
          logout: 'https://adfs.acme.example/adfs/ls/',
          signOn: 'https://adfs.acme.example/adfs/ls/',
          signOnByPost: 'https://adfs.acme.example/adfs/ls/',
          formats: [emailFormat, ...formats('persistent', 'transient')],
        }),
    },
  ],
  onelogin: [
    {
      id: 'acme-onelogin',
      text: (certificate) =>
        metadataXml({
          entityId: 'https://app.onelogin.com/saml/metadata/7c9e218a-1e0f-4c5e-9d0a-3b1f6f7c9e21',
          signing: [certificate],
          formats: [emailFormat],
          logout: 'https://acme.onelogin.com/trust/saml2/http-redirect/slo/1234567',
          signOn: 'https://acme.onelogin.com/trust/saml2/http-redirect/sso/7c9e218a-1e0f-4c5e-9d0a-3b1f6f7c9e21',
          signOnByPost: 'https://acme.onelogin.com/trust/saml2/http-post/sso/7c9e218a-1e0f-4c5e-9d0a-3b1f6f7c9e21',
        }),
    },
  ],
  simplesamlphp: [
    {
      id: 'acme-ssp',
      text: (certificate) =>
        metadataXml({
          entityId: 'https://idp.acme.example/simplesaml/saml2/idp/metadata.php',
          signing: [certificate],
          encryption: certificate,
          formats: formats('transient'),
          logout: 'https://idp.acme.example/simplesaml/saml2/idp/SingleLogoutService.php',
          signOn: 'https://idp.acme.example/simplesaml/saml2/idp/SSOService.php',
        }),
    },
  ],
  pysaml2: [
    {
      id: 'acme-pysaml2',
      text: (certificate) =>
        metadataXml({
          entityId: 'https://idp.acme.example/metadata',
          signing: [certificate],
          formats: [persistentFormat],
          logout: 'https://idp.acme.example/logout',
          signOn: 'https://idp.acme.example/sso',
          signOnByPost: 'https://idp.acme.example/sso',
        }),
    },
  ],
  shibboleth: [
    {
      id: 'acme-shibboleth',
      text: (certificate) =>
        metadataXml({
          entityId: 'https://idp.acme.example/idp/shibboleth',
          signing: [certificate],
          encryption: certificate,
          displayName: 'Acme University',
          formats: [...formats('transient'), persistentFormat],
          logout: 'https://idp.acme.example/idp/profile/SAML2/Redirect/SLO',
          signOn: 'https://idp.acme.example/idp/profile/SAML2/Redirect/SSO',
          signOnByPost: 'https://idp.acme.example/idp/profile/SAML2/POST/SSO',
        }),
    },
  ],
};
