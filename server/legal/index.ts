/**
 * The module of legal documents: terms of service and imprint, as Markdown files per language, and the page of the
 * latter. They are read, checked and rendered once, at the start.
 * Owns the documents and the current version of the terms. Does not own the acceptances (users/) nor when users are
 * asked (sign-in/).
 */

export { imprintRoute } from './imprint.ts';
export { type Legal, type LegalDocument, LegalFilesError, loadLegal, shippedLegalDir } from './legal-documents.ts';
