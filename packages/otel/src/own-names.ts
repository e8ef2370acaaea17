/** What the conventions have no name for. */

/** How a turn, a model call or a tool call ended. */
export const ATTR_OUTCOME = 'celestea.outcome';
/** Which step of its turn this is, counted from 0 as `StepInfo` does. */
export const ATTR_STEP = 'celestea.step';
/** How many steps a turn took. */
export const ATTR_STEPS = 'celestea.steps';
