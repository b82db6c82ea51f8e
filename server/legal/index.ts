/**
 * The room of what the operator must tell: terms of service and imprint, as Markdown files per language, and the page of
 * the latter. They are read, checked and rendered once, at the start.
 *
 * Owns the documents and which version of the terms is in force. Does not own who accepted what (account/) nor when
 * members are asked (sign-in/).
 */

export { imprintRoute } from './imprint.ts';
export { type Legal, type LegalDocument, LegalFilesError, loadLegal, shippedLegalDir } from './legal-documents.ts';
