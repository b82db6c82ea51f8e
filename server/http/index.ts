/**
 * The module of everything that answers share: pages, errors, headers, cookies, languages, bodies, the log line per
 * request, the guards against foreign hosts and cross-site posts (RFC 9110; Fetch Metadata; CSP level 3), the JSON API
 * with its OpenAPI document, and the probes for liveness and readiness.
 * Does not own the content of pages (views/), nor who is authorized (oidc/).
 */
export {
  type ApiAccess,
  type ApiPrincipal,
  type ApiScope,
  apiScopes,
  type Guard,
  isRecentAt,
  type MemberApiScope,
  memberApiScopes,
  permits,
  recentAuthMs,
  requirePrincipal,
  resolveRequestedUser,
  setPrincipal,
} from './access.ts';
export { type CallId, callAccess, graphqlAccess } from './access-table.ts';
export { type ApiOperation, apiRoutes, type CallLimits, defineOperation, operationsBy } from './api-operation.ts';
export { toAppLinks } from './app-links.ts';
export { type Assets, loadAssets } from './assets.ts';
export { bodies } from './body-parsers.ts';
export { brandStylesheet, serveBrand } from './brand.ts';
export { clientIp } from './client-ip.ts';
export { type Continuation, continuationFrom, continuationFromQuery, keptSearch } from './continuation.ts';
export { domainCookies, type HostCookies, hostCookies } from './cookies.ts';
export { isSameOrigin, rejectCrossSite } from './csrf.ts';
export { createDirectDispatcher, createErrorBridge, type DirectHandler } from './direct-dispatcher.ts';
export {
  asHttpError,
  errorHandler,
  methodNotAllowed,
  notFound,
  sendError,
  unavailableRetrySeconds,
} from './error-pages.ts';
export { type ErrorKind, HttpError, problemKinds } from './errors.ts';
export { isMalformed, malformedSecret, readFormField, readQueryParam, withoutSteering } from './form-fields.ts';
export { graphqlOperation } from './graphql.ts';
export { GraphqlError } from './graphql-settings.ts';
export { contentSecurityPolicy, getNonce, type PolicyExtras, securityHeaders } from './headers.ts';
export { alive, type Readiness, ready } from './health.ts';
export type { HttpExchange } from './http-exchange.ts';
export { createI18n } from './i18n.ts';
export { jsonField, malformedLines } from './json-field.ts';
export { markJsonRoutes } from './json-routes.ts';
export { createTranslator, type Language, languages, resolveLanguage, type T, translator } from './language.ts';
export { submitLanguage, writeLanguageCookie } from './language-form.ts';
export { createLog, type Logger, requestLog } from './log.ts';
export { mediaFiles, safePathParts as picturePathParts } from './media-files.ts';
export { onlyFromThisMachine } from './only-from-this-machine.ts';
export { openApiDocument } from './openapi.ts';
export { behindRules, type PageRule, toRuleName } from './page-access.ts';
export {
  type AddPage,
  enforces,
  type PageHandler,
  pageRoutes,
  ruleOfHandler,
  UnknownAddressError,
} from './page-routes.ts';
export { pageAccess, pathsBeforeTerms, protocolAccess } from './page-table.ts';
export { getPageUser, setPageUser } from './page-user.ts';
export { createPages, type PageSettings, type Pages } from './pages.ts';
export { createFormRecords } from './post-redirect-get.ts';
export { handleProbe, type ProbeReport, probeHeader, signProbe } from './proxy-probe.ts';
export { oneHost, requirePublicHost } from './public-host.ts';
export { renderDocument } from './render.tsx';
export { getRequestOrigin, plainAddress, RequestContext, type RequestServices } from './request-context.ts';
export { detectLanguages } from './request-language.ts';
export { measureRequests } from './request-metrics.ts';
export {
  keepOpener,
  type RequestTraits,
  requestCookie,
  requestCookiePrefix,
  requestOfForm,
  requestTraits,
  toMark,
  traitsOfParameters,
} from './request-traits.ts';
export { setRetryAfter, toRetrySeconds } from './retry-after.ts';
export { staticFiles } from './static-files.ts';
