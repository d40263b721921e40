/** Thrown by a function to end the calling expression, whose evaluation counts as cancelled. */
export class StopProgram extends Error {
  override readonly name = 'StopProgram'
}

/** An error that jq reports. */
export class JqError extends Error {}
