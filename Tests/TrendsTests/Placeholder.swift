import Trends
