/**
 * The module of everything that answers share: pages, errors, headers, cookies, languages, bodies, the log line per
 * request, the guards against foreign hosts and cross-site posts (RFC 9110; Fetch Metadata; CSP level 3), the JSON API
 * with its OpenAPI document, the probes for liveness and readiness, and the rate limits: one table
 * (`rate-limits/limits.ts`), counted over all processes (NIST SP 800-63B, section 3.2.2; RFC 6585, section 4).
 * Does not own the content of pages (views/), nor who is authorized (oidc/), nor the answer to a refused request.
 */
export {
  type ApiAccess,
  type ApiPrincipal,
  type ApiScope,
  apiScopes,
  findPrincipal,
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
export { callAccess, graphqlAccess, isCallId, isServiceCall } from './access-table.ts';
export {
  type Action,
  type ActionDone,
  callAction,
  defineAction,
  expiredCode,
  type RefusalRule,
  type RefusalRules,
  type RefusedForm,
  refusalView,
  submitAction,
  toInvalidParams,
  toRefusalError,
  wrongCode,
  wrongInput,
} from './actions.ts';
export { flagField, idField } from './api-fields.ts';
export { apiReferencePath } from './api-names.ts';
export { type ApiOperation, aliasMeta, apiRoutes, defineOperation, operationsBy } from './api-operation.ts';
export { apiReferenceRoute } from './api-reference.ts';
export { codeField, codeSentSchema, flowField, passwordField, success, successSchema } from './api-schemas.ts';
export { admitScript, type IsScriptOrigin } from './api-scripts.ts';
export { toAppLinks } from './app-links.ts';
export type { ArrivalName } from './arrival-notices.ts';
export { type Assets, loadAssets } from './assets.ts';
export { addBrandRoutes, brandStylesheet, homeScreenFiles, stylesheetFile } from './brand.ts';
export { type Continuation, continuationFrom, continuationFromQuery, keptSearch } from './continuation.ts';
export { domainCookies, type HostCookies, type HttpExchange, hostCookies } from './cookies.ts';
export {
  admitRequests,
  createDirectDispatcher,
  createErrorBridge,
  type DirectCalls,
  type DirectHandler,
  type DirectPage,
  type DirectPages,
} from './direct-dispatcher.ts';
export {
  asHttpError,
  errorHandler,
  methodNotAllowed,
  notFound,
  sendError,
  unavailableRetrySeconds,
} from './error-pages.ts';
export { HttpError, setRetryAfter, toRetrySeconds } from './errors.ts';
export { clientIp, createExpress } from './express-app.ts';
export {
  choiceSchema,
  codeForm,
  emailControl,
  type Form,
  type FormErrors,
  type FormField,
  filledSchema,
  formField,
  listOpenNames,
  type OpenInput,
  orNull,
  type ReadForm,
  readTexts,
  secretSchema,
  textSchema,
  tickSchema,
  toControls,
  toTyped,
  usernameControl,
  type WithKeptInput,
} from './forms.ts';
export { graphqlOperation } from './graphql.ts';
export { GraphqlError, type GraphqlPart } from './graphql-settings.ts';
export {
  commonHeaders,
  contentSecurityPolicy,
  getNonce,
  type PolicyExtras,
  permissionsPolicy,
  securityHeaders,
} from './headers.ts';
export { alive, type Readiness, ready } from './health.ts';
export { jsonField } from './json-field.ts';
export {
  createI18n,
  createTranslator,
  type Language,
  languages,
  replaceTexts,
  resolveLanguage,
  type T,
  translator,
} from './language.ts';
export { submitLanguage, writeLanguageCookie } from './language-form.ts';
export { createLog, currentRequest, type Logger, measureRequests, requestLog, requestReference } from './log.ts';
export { mediaFiles, safePathParts as picturePathParts, setPictureHeaders, toImageType } from './media-files.ts';
export { openApiDocument } from './openapi.ts';
export { problemSchema } from './openapi-problems.ts';
export type { ProtocolCall } from './openapi-protocol.ts';
export { createAdmissionGate } from './overload.ts';
export { createOverloadAnswers } from './overload-answers.ts';
export { behindRules, type PageRule, toRuleName } from './page-access.ts';
export {
  type AddPage,
  enforces,
  enforcesLike,
  type PageHandler,
  pageRoutes,
  ruleOfHandler,
  UnknownAddressError,
} from './page-routes.ts';
export { pageAccess, pathsBeforeTerms, protocolAccess } from './page-table.ts';
export { createPlaceholder } from './page-template.ts';
export {
  createPages,
  getPageUser,
  type PageSettings,
  type Pages,
  type PreparedPage,
  seeOther,
  setPageUser,
} from './pages.ts';
export { createFormRecords, createSingleUseNotices } from './post-redirect-get.ts';
export { apiProblems, type ErrorKind, problemType } from './problems.ts';
export { handleProbe, type ProbeReport, probeHeader, signProbe } from './proxy-probe.ts';
export { apiCallLimits } from './rate-limits/api-calls.ts';
export { configureLimits, type LimitSettings, type RateLimits } from './rate-limits/configure.ts';
export {
  consumeLimits,
  ipBucket,
  ipBuckets,
  type Limit,
  type LimitDecision,
  type LimitKeys,
  type LimitRefusal,
  type LimitStore,
  toCounterKey,
} from './rate-limits/consume.ts';
export { rateLimiter } from './rate-limits/express.ts';
export { rateLimits } from './rate-limits/limits.ts';
export type { FirmLimit } from './rate-limits/slow-lane.ts';
export { specialLimits } from './rate-limits/special-limits.ts';
export {
  createVisitorGate,
  guardVisitorForms,
  toLifetime,
  type VisitorGate,
  visitorRowMs,
} from './rate-limits/visitor-gate.ts';
export { readUpload } from './read-upload.ts';
export { createPageSender, isUnidentified, renderDocument } from './render.tsx';
export {
  bodies,
  isMalformed,
  isUpload,
  malformedSecret,
  readFormField,
  readQueryParam,
  withoutSteering,
} from './request-body.ts';
export {
  AddressWithNotice,
  getRequestOrigin,
  type NextPage,
  plainAddress,
  prefilledEmail,
  RequestContext,
  type RequestServices,
  toAddress,
} from './request-context.ts';
export {
  isSameOrigin,
  markJsonRoutes,
  oneHost,
  onlyFromThisMachine,
  rejectCrossSite,
  requirePublicHost,
} from './request-guards.ts';
export { detectLanguages } from './request-language.ts';
export {
  asksAhead,
  keepOpener,
  type RequestTraits,
  requestCookie,
  requestCookiePrefix,
  requestOfForm,
  requestTraits,
  toMark,
  traitsOfParameters,
} from './request-traits.ts';
export { decimalText, describedAs, doc, shownAsRequired, withDocs } from './schema-doc.ts';
export { staticFiles } from './static-files.ts';
export { linesField, textField } from './text-field.ts';
