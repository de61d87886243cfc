"""The names that `visual` exports, and their modules."""

from .drawing.draw import draw as draw
from .drawing.draw import figure as figure
from .drawing.export import export as export
from .exercises.exercise import Exercise as Exercise
from .exercises.exercise import Exercises as Exercises
from .exercises.exercise import Question as Question
from .exercises.work import Work as Work
from .pictures.dot_product import dot_product as dot_product
from .pictures.eager.eager import eager as eager
from .pictures.eager.two_tapes import two_tapes as two_tapes
from .pictures.genealogy import genealogy as genealogy
from .pictures.phases.phases import phases as phases
from .pictures.plots.influence import influence as influence
from .pictures.plots.memory import memory as memory
from .pictures.plots.values import values as values
from .pictures.routing.routing import routing as routing
from .pictures.routing.transposed import transposed as transposed
from .pictures.ssa import ssa as ssa
from .pictures.stepgraph.stepgraph import stepgraph as stepgraph
from .pictures.tapes.tapes import tapes as tapes
from .pictures.taps import taps as taps
from .pictures.unrolled.unrolled import unrolled as unrolled
from .player.page import Page as Page
from .player.widget import machine as machine
from .scene.shapes import Scene as Scene
from .workbench.workbench import Workbench as Workbench
