/**
 * The room of the dashboard: the client apps that a member can open (the specification's section 2, Dashboard).
 *
 * Owns that page. Does not own how client apps are registered nor who may enter them (oauth/), nor what a member does first
 * (sign-in/).
 */
export { type DashboardDeps, dashboardRoutes } from './dashboard-handlers.ts';
