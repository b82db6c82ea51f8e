/** The report of `foyer provider check` and `foyer doctor` on one provider. */
export interface ProviderReport {
  id: string;
  /** Faults that prevent sign-ins now. */
  faults: string[];
  /** Faults that will prevent sign-ins later. */
  warnings: string[];
  /** Settings at the provider that no request from here shows; a failed sign-in does. The doctor leaves them out. */
  unseen: string[];
}

/** A check names only what it has found. */
export type ProviderCheckResult = Partial<Omit<ProviderReport, 'id'>>;

export const joinedReports = (...reports: ProviderCheckResult[]): Omit<ProviderReport, 'id'> => ({
  faults: reports.flatMap(({ faults = [] }) => faults),
  warnings: reports.flatMap(({ warnings = [] }) => warnings),
  unseen: reports.flatMap(({ unseen = [] }) => unseen),
});
