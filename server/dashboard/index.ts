/**
 * The module of the dashboard: the client apps that a user can open (the specification's section 2, Dashboard).
 * Owns that page. Does not own the registration of client apps nor access to them (oidc/), nor the next step of a user
 * (sign-in/).
 */
export { type DashboardDeps, dashboardRoutes } from './dashboard-handlers.ts';
