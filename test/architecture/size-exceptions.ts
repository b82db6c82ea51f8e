const errorHandler = 'Express knows an error handler by its four parameters';

/** Functions over a limit, each with the reason: a library dictates the signature, or a later part rewrites them. */
export const largeFunctions: Record<'parameters' | 'lines' | 'complexity', ReadonlyMap<string, string>> = {
  parameters: new Map([
    ['sandbox/providers/stand-ins.ts (anonymous)', errorHandler],
    ['sandbox/stripe/stand-in.ts (anonymous)', errorHandler],
    ['server/http/error-pages.ts (anonymous)', errorHandler],
    ['server/oidc/server-errors.ts (anonymous)', errorHandler],
    ['server/http/request-body.ts verify', 'a callback of body-parser'],
    ['server/http/graphql-engine.ts (anonymous)', 'a resolver of graphql'],
    ['server/sessions/session-stores.ts set', 'a method that connect-redis calls'],
    ['server/oidc/device-flow.ts userCodeConfirmSource', 'a callback of oidc-provider'],
    ['server/oidc/device-flow.ts userCodeInputSource', 'a callback of oidc-provider'],
    ['server/federation/providers/passport.ts store', 'a method that passport-oauth2 calls'],
    ['server/federation/providers/passport.ts verify', 'a method that passport-oauth2 calls'],
    ['server/federation/providers/oauth2-client.ts _request', 'overrides a method of oauth'],
    ['server/federation/providers/oauth2-provider.ts verifyProfile', 'a callback of passport-oauth2'],
    ['server/federation/providers/passport.ts callback', 'a callback of passport'],
  ]),
  lines: new Map(),
  complexity: new Map(),
};
