"""Motors, pumps and solenoids; ``kind: machines.dc_motor`` is ``cotree.machines.DCMotor``."""

from cotree.terminal.machines import *  # noqa: F403
