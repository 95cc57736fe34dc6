export { auditLog } from "./audit-log.ts";
export type { AuditLog, AuditLogOptions } from "./audit-log.ts";
