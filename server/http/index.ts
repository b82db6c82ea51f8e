/**
 * The room of what every answer shares: pages, errors, headers, cookies, languages, bodies, the log's line per request,
 * the guards against foreign hosts and cross-site posts (RFC 9110; Fetch Metadata; CSP level 3), the frame of the JSON
 * API with its OpenAPI document, limits on how often one may call, and what says that the process lives and is ready.
 *
 * Does not own any page's content (views/), nor who may see it or call what (oauth/).
 */
export {
  type Access,
  type ApiScope,
  apiScopes,
  type Guard,
  isRecentAt,
  type MemberApiScope,
  memberApiScopes,
  memberMeant,
  type Principal,
  permits,
  principalOf,
  recentMs,
  setPrincipal,
} from './access.ts';
export { type CallId, callAccess, graphqlAccess } from './access-table.ts';
export { type Assets, loadAssets } from './assets.ts';
export { bodies } from './bodies.ts';
export { type BrandStylesheet, brandStylesheet, serveBrand } from './brand.ts';
export { callersAddress } from './callers-address.ts';
export { domainCookies, type HostCookies, hostCookies } from './cookies.ts';
export { fromThisSite, refuseCrossSite } from './cross-site.ts';
export { type Errand, errandOf, errandOfSearch, keptSearch, withErrand } from './errand.ts';
export { asHttpError, errorHandler, methodNotAllowed, notFound, sendError, storeAwaySeconds } from './error-pages.ts';
export { type ErrorKind, HttpError, problemKinds, problemType } from './errors.ts';
export { field, malformed, malformedSecret, query, withoutSteering } from './fields.ts';
export { createFront, type DirectHandler, type Front, type Gate } from './front.ts';
export { sendGoingOnPage } from './going-on.ts';
export { GraphqlFault, graphqlOperation } from './graphql.ts';
export { greet } from './greeting.ts';
export { contentSecurityPolicy, nonceOf, type PolicyExtras, securityHeaders } from './headers.ts';
export { alive, type Readiness, ready } from './health.ts';
export { jsonField, malformedLines } from './json-field.ts';
export { markJsonRoutes } from './json-routes.ts';
export { type Language, languageOf, languages, type T, translator } from './language.ts';
export { chooseLanguage, rememberLanguage } from './language-choice.ts';
export { appLinks, type LinkSettings } from './links.ts';
export { createLog, type Logger, referenceOf, requestLog } from './log.ts';
export { measureRequests } from './measure.ts';
export { mediaFiles, partsOf as picturePathParts } from './media-files.ts';
export { type OpenApiSettings, openApiDocument } from './openapi.ts';
export { apiRoutes, type CallLimits, type Operation, operation, operationsBy } from './operations.ts';
export { behindRules, type PageRule, ruleNameOf } from './page-access.ts';
export { pageAccess, pathsBeforeTerms, protocolAccess } from './page-table.ts';
export { createPages, type PageSettings, type Pages } from './pages.ts';
export { createFormRecords } from './post-redirect-get.ts';
export { answerProbe, probeHeader, type Seen, signProbe, verifyProbe } from './probe.ts';
export { oneHost, publicAddress } from './public-address.ts';
export { renderPage } from './render.tsx';
export { detectLanguages } from './request-language.ts';
export {
  belongToRequest,
  keepOpener,
  markOf,
  type RequestTraits,
  requestCookie,
  requestCookiePrefix,
  requestOfForm,
  requestTraits,
  traitsOfParameters,
} from './request-traits.ts';
export { retrySeconds, setRetryAfter } from './retry-after.ts';
export { returnAddress } from './return-address.ts';
export { staticFiles } from './static-files.ts';
