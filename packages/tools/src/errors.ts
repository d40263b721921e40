/** A tool cannot be installed or used, for a reason that its operator can change. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
}
