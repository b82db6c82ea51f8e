/** All routes of the library, under /oauth2; some of its defaults are elsewhere. */
export const routes = {
  authorization: '/oauth2/authorize',
  token: '/oauth2/token',
  userinfo: '/oauth2/userInfo',
  jwks: '/oauth2/jwks',
  revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect',
  end_session: '/oauth2/logout',
  pushed_authorization_request: '/oauth2/par',
  device_authorization: '/oauth2/device_authorization',
  code_verification: '/oauth2/device',
  registration: '/oauth2/register',
  challenge: '/oauth2/challenge',
  backchannel_authentication: '/oauth2/backchannel',
} as const;

export const discoveryPaths = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const;
