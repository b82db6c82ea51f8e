/** The report of `foyer provider check` and `foyer doctor` on one provider. */
export interface ProviderReport {
  id: string;
  /** Faults that prevent sign-ins now. */
  faults: string[];
  /** Faults that will prevent sign-ins later. */
  warnings: string[];
}

export type ProviderCheckResult = Omit<ProviderReport, 'id'>;

export const joinedReports = (...reports: ProviderCheckResult[]): ProviderCheckResult => ({
  faults: reports.flatMap(({ faults }) => faults),
  warnings: reports.flatMap(({ warnings }) => warnings),
});
